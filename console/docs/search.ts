// The search of the pages under /docs. A page loads it when its reader first uses the field.
import type { SearchData } from "../../src/contract/documents/reference/search-data.ts";
import { createFinder, type Part, partsOf } from "./ranking.ts";
import { snippetOf } from "./snippet.ts";

const atMost = 30;

/** Makes a field find parts of pages: `root` contains the field, a status and a list. Its data names where the texts are. */
export async function attach(root: HTMLElement): Promise<void> {
  const field = find(root, "input");
  const panel = find(root, ".found");
  const status = find(root, "[role=status]");
  const list = find(root, "[role=listbox]");
  const dataUrl = new URL(root.dataset.index ?? "", location.href);
  const parts = await load(dataUrl);
  const search = createFinder(parts);
  let chosen = -1;

  function open(isOpen: boolean): void {
    panel.hidden = !isOpen;
    field.setAttribute("aria-expanded", String(isOpen));
  }

  function choose(position: number): void {
    const options = [...list.children];
    chosen = options.length === 0 ? -1 : (position + options.length) % options.length;
    for (const [at, option] of options.entries()) option.setAttribute("aria-selected", String(at === chosen));
    const option = options[chosen];
    if (option === undefined) field.removeAttribute("aria-activedescendant");
    else field.setAttribute("aria-activedescendant", option.id);
    if (option instanceof HTMLElement) showWithin(list, option);
  }

  function show(): void {
    const query = field.value.trim();
    open(query !== "");
    if (query === "") return;
    const { found, words } = search(query, atMost);
    const shown = found.slice(0, atMost);
    status.textContent =
      found.length === 0
        ? `Nothing found for “${query}”.`
        : shown.length < found.length
          ? `The best ${shown.length} of ${found.length} results`
          : `${found.length} ${found.length === 1 ? "result" : "results"}`;
    list.replaceChildren(...shown.map((part, at) => optionOf(part, at, words)));
    list.scrollTop = 0;
    choose(0);
  }

  field.addEventListener("input", show);
  field.addEventListener("focus", show);
  field.addEventListener("keydown", (event) => {
    if (event.isComposing) return;
    if (event.key === "Escape") {
      if (!panel.hidden) event.preventDefault(); // the first one closes the list, the second empties the field
      open(false);
    } else if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      if (panel.hidden) show();
      else choose(chosen + (event.key === "ArrowDown" ? 1 : -1));
    } else if (event.key === "Enter") {
      const option = panel.hidden ? undefined : list.children[chosen];
      if (option instanceof HTMLElement) option.click();
    }
  });
  list.addEventListener("click", () => open(false));
  root.addEventListener("focusout", ({ relatedTarget }) => {
    if (!(relatedTarget instanceof Node && root.contains(relatedTarget))) open(false);
  });
  if (root.contains(document.activeElement)) show();
}

/** Scrolls a list until an entry is in sight. `scrollIntoView` would scroll the page, too. */
function showWithin(list: HTMLElement, { offsetTop, offsetHeight }: HTMLElement): void {
  const top = offsetTop - list.offsetTop;
  if (top < list.scrollTop) list.scrollTop = top;
  else if (top + offsetHeight > list.scrollTop + list.clientHeight)
    list.scrollTop = top + offsetHeight - list.clientHeight;
}

async function load(dataUrl: URL): Promise<Part[]> {
  const response = await fetch(dataUrl);
  if (!response.ok) throw new Error(`${dataUrl} answered ${response.status}`);
  const pages: SearchData = await response.json();
  const below = new URL("./", dataUrl);
  const hrefOf = (path: string, anchor: string) => {
    const url = path === "" ? below.href.replace(/\/$/, "") : new URL(path, below).href;
    return anchor === "" ? url : `${url}#${anchor}`;
  };
  return partsOf(pages, hrefOf);
}

function optionOf(
  { href, title, heading, address: call, text }: Part,
  at: number,
  words: readonly string[],
): HTMLElement {
  const option = document.createElement("a");
  option.href = href;
  option.id = `found-${at}`;
  option.role = "option";
  option.tabIndex = -1;
  const line = (className: string, ...content: (string | Node)[]) => {
    const element = document.createElement("span");
    element.className = className;
    element.append(...content);
    return element;
  };
  option.append(line("where", heading === title ? heading : `${title} › ${heading}`));
  if (call !== "") option.append(line("call", call));
  if (text !== "")
    option.append(line("snippet", ...snippetOf(text, words).map(({ text, isHit }) => (isHit ? marked(text) : text))));
  return option;
}

function marked(text: string): HTMLElement {
  const element = document.createElement("mark");
  element.textContent = text;
  return element;
}

function find<Selector extends string>(
  root: HTMLElement,
  selector: Selector,
): Selector extends "input" ? HTMLInputElement : HTMLElement {
  const element = root.querySelector<Selector extends "input" ? HTMLInputElement : HTMLElement>(selector);
  if (element === null) throw new Error(`the search has no ${selector}`);
  return element;
}
