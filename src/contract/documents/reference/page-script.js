// The pages can be read without this script. It adds buttons that copy code, tabs and the search, and follows anchors.
const shownMs = 2000;

for (const figure of document.querySelectorAll("figure")) {
  const caption = figure.querySelector("figcaption");
  const button = document.createElement("button");
  const show = (text) => {
    button.textContent = text;
    button.setAttribute("aria-label", `${text}: ${caption.firstChild.textContent}`);
  };
  button.type = "button";
  show("Copy");
  const tell = (isCopied) => {
    show(isCopied ? "Copied" : "Not copied");
    setTimeout(show, shownMs, "Copy");
  };
  button.addEventListener("click", () => void copy(figure.querySelector("code")).then(tell));
  caption.append(button);
}

/** Copies what an element shows. Pages over plain HTTP have no `navigator.clipboard`. */
async function copy(element) {
  try {
    await navigator.clipboard.writeText(element.textContent);
    return true;
  } catch {
    getSelection().selectAllChildren(element);
    const isCopied = document.execCommand("copy");
    getSelection().removeAllRanges();
    return isCopied;
  }
}

const languageKey = "herald-language"; // the console's, too

/** The language that the reader chose last, on any page. Browsers that keep no site data throw. */
function chosenLanguage() {
  try {
    return localStorage.getItem(languageKey);
  } catch {
    return null;
  }
}

function keepLanguage(language) {
  try {
    localStorage.setItem(languageKey, language);
  } catch {
    // then it is chosen for this page only
  }
}

/** Makes tabs of what shows the same in several languages. Returns what shows one of them. */
function createTabs(group, number) {
  const panels = [...group.querySelectorAll(":scope > .tab")];
  const list = document.createElement("div");
  list.role = "tablist";
  list.ariaLabel = "Language";
  const tabs = panels.map((panel) => {
    const tab = document.createElement("button");
    const name = panel.dataset.language;
    const language = name.toLowerCase();
    panel.id = `tab-${number}-${language}`;
    panel.role = "tabpanel";
    tab.id = `${panel.id}-choice`;
    tab.type = "button";
    tab.role = "tab";
    tab.textContent = name;
    tab.setAttribute("aria-controls", panel.id);
    panel.setAttribute("aria-labelledby", tab.id);
    tab.addEventListener("click", () => choose(language, list));
    return tab;
  });
  list.addEventListener("keydown", ({ key }) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[key];
    if (step === undefined) return;
    const next = tabs.at((tabs.indexOf(document.activeElement) + step) % tabs.length);
    next.focus();
    next.click();
  });
  list.append(...tabs);
  group.prepend(list);
  group.classList.add("live");
  return (language) => {
    const shown = Math.max(
      panels.findIndex((panel) => panel.dataset.language.toLowerCase() === language),
      0,
    );
    for (const [index, tab] of tabs.entries()) {
      tab.setAttribute("aria-selected", String(index === shown));
      tab.tabIndex = index === shown ? 0 : -1;
      panels[index].hidden = index !== shown;
    }
  };
}

const groups = [...document.querySelectorAll(".tabs")].map(createTabs);
for (const show of groups) show(chosenLanguage());

/** Shows a language in all tabs, and keeps the ones in use where they are on the screen. */
function choose(language, list) {
  const before = list.getBoundingClientRect().top;
  for (const show of groups) show(language);
  scrollBy({ top: list.getBoundingClientRect().top - before, behavior: "instant" });
  keepLanguage(language);
}

/** Leads on from an anchor that has moved to another page, and opens what hides one. */
function followAnchor() {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  const moved = target?.querySelector(":scope > a.moved");
  if (moved) location.replace(moved.href);
  const around = target?.closest(".operation, .command") ?? target;
  const opened = around?.querySelectorAll("details") ?? [];
  for (const details of opened) details.open = true;
  if (opened.length > 0) target.scrollIntoView();
}

addEventListener("hashchange", followAnchor);
followAnchor();

addEventListener("beforeprint", () => {
  for (const details of document.querySelectorAll("details")) details.open = true;
});

const search = document.querySelector(".search");
const field = search.querySelector("input");
let isSearchLoading = false;

/** Loads the search when it is first used. A later attempt repeats one that failed. */
async function loadSearch() {
  if (isSearchLoading) return;
  isSearchLoading = true;
  try {
    const { attach } = await import(search.dataset.script);
    await attach(search);
  } catch {
    isSearchLoading = false;
  }
}

search.hidden = false;
for (const event of ["focus", "input"]) field.addEventListener(event, () => void loadSearch());
addEventListener("keydown", (event) => {
  const isTyping = event.target.closest("input, textarea, select, [contenteditable]");
  if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey || isTyping) return;
  event.preventDefault();
  field.focus({ preventScroll: true }); // it is always on the screen
});
