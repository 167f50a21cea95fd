import { useLayoutEffect, useState } from "preact/hooks";
import type { PageName } from "../../state/search/commands.ts";
import { SearchDialog } from "./search-dialog.tsx";

const isMac = /Mac|iPhone|iPad/.test(navigator.platform);

type Props = { pages: readonly PageName[]; signOut: () => void };

/** The button that opens the search, which Ctrl+K and ⌘K do from anywhere, and `/` where nobody is typing. */
export function Search({ pages, signOut }: Props) {
  const [isOpen, setIsOpen] = useState(false);
  // Before the page is shown, so that no key is missed that is pressed at once.
  useLayoutEffect(() => {
    const press = (event: KeyboardEvent) => {
      const { key, ctrlKey, metaKey, altKey, shiftKey, target } = event;
      const isChord = (ctrlKey || metaKey) && !altKey && !shiftKey && key.toLowerCase() === "k";
      const isSlash = key === "/" && !ctrlKey && !metaKey && !altKey && !isField(target);
      if (event.defaultPrevented || (!isChord && !isSlash)) return;
      event.preventDefault();
      if (document.querySelector("dialog[open]") === null) setIsOpen(true);
    };
    addEventListener("keydown", press);
    return () => removeEventListener("keydown", press);
  }, []);
  return (
    <>
      <button
        type="button"
        class="small search-open"
        aria-keyshortcuts="Control+K Meta+K /"
        aria-haspopup="dialog"
        onClick={() => setIsOpen(true)}
      >
        <svg viewBox="0 0 16 16" width="14" height="14" aria-hidden="true">
          <circle cx="7" cy="7" r="4.5" />
          <line x1="10.5" y1="10.5" x2="14" y2="14" />
        </svg>
        <span class="search-name">Search</span>{" "}
        <span aria-hidden="true">
          <kbd>{isMac ? "⌘K" : "Ctrl K"}</kbd>
        </span>
      </button>
      {isOpen && <SearchDialog pages={pages} signOut={signOut} onClose={() => setIsOpen(false)} />}
    </>
  );
}

function isField(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && (target.isContentEditable || target.matches("input, select, textarea"));
}
