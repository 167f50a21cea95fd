import { useEffect, useId, useMemo, useRef, useState } from "preact/hooks";
import { useConsole } from "../../state/context.ts";
import { findCommands, type PageName } from "../../state/search/commands.ts";
import { groupHits, type Hit } from "../../state/search/match.ts";
import type { Source } from "../../state/search/source.ts";
import { createSources } from "../../state/search/sources.ts";
import { readTyped } from "../../state/search/typed.ts";
import { useSearch } from "../../state/search/use-search.ts";
import { Dialog } from "../forms/dialog.tsx";
import { LeftOut, Unsearched } from "./left-out.tsx";
import { Results } from "./results.tsx";

type Props = { pages: readonly PageName[]; signOut: () => void; onClose: () => void };

/** Searches what the key may read, and what the console can do. A combobox with a list (ARIA 1.2). */
export function SearchDialog({ pages, signOut, onClose }: Props) {
  const { can, link, me } = useConsole();
  const id = useId();
  const field = useRef<HTMLInputElement>(null);
  const [typed, setTyped] = useState(() => readTyped("", false));
  const { usable, left } = useSources();
  const { hits, failures, isBusy } = useSearch(usable, typed);
  const { text, isSecret } = typed;
  const commands = isSecret ? [] : findCommands(text, pages, { can, link, me }, signOut);
  const groups = groupHits([...hits, ...commands]);
  const shown = groups.flatMap((group) => group.hits);
  const [active, setActive] = useActive(shown, text);
  useEffect(() => field.current?.focus(), []);

  const choose = (hit: Hit) => {
    onClose();
    if ("run" in hit) hit.run();
    else location.assign(hit.href);
  };
  const press = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (event.isComposing) return;
    if (event.key === "Enter") {
      const hit = shown[active];
      event.preventDefault();
      if (hit !== undefined) choose(hit);
    } else if (step !== undefined && shown.length > 0) {
      event.preventDefault();
      setActive((active + step + shown.length) % shown.length);
    }
  };
  const told = isBusy ? "Searching…" : shown.length === 1 ? "1 result" : `${shown.length} results`;
  return (
    <Dialog title="Search" onClose={onClose} kind="search">
      <div class="search-field">
        <input
          ref={field}
          type="text"
          role="combobox"
          aria-label="Any id, or the beginning of a name"
          aria-expanded={shown.length > 0}
          aria-controls={`${id}-results`}
          aria-autocomplete="list"
          aria-activedescendant={shown.length > 0 ? `${id}-${active}` : undefined}
          placeholder="Any id, or the beginning of a name"
          autocomplete="off"
          autocapitalize="off"
          spellcheck={false}
          onInput={(event) => setTyped(readTyped(event.currentTarget.value, event.inputType === "insertFromPaste"))}
          onKeyDown={press}
        />
        <button type="button" class="small" onClick={onClose}>
          Close
        </button>
      </div>
      <Results id={id} groups={groups} text={text} active={active} onChoose={choose} />
      {isSecret && (
        <p class="fine">This looks like a secret. It is sent nowhere; of an API key, only its id is searched for.</p>
      )}
      <Unsearched failures={failures} />
      <LeftOut sources={left} />
      <p class="search-foot fine">
        <span role="status">{told}</span>
        <span class="search-keys" aria-hidden="true">
          <kbd>↑</kbd> <kbd>↓</kbd> <span>choose</span> <kbd>Enter</kbd> <span>open</span> <kbd>Esc</kbd>{" "}
          <span>close</span>
        </span>
      </p>
    </Dialog>
  );
}

/** The sources that the key may ask, and those that it may not. */
function useSources(): { usable: Source[]; left: Source[] } {
  const { client, can, link, me, org } = useConsole();
  return useMemo(() => {
    const sources = createSources({ client, link, org, seesOthers: me.organization === null });
    const isUsable = ({ scope, isOfOrganization }: Source) => can(scope) && (org !== undefined || !isOfOrganization);
    return {
      usable: sources.filter(isUsable),
      left: sources.filter((source) => !can(source.scope) && source.kind !== "elsewhere" && source.isLast !== true),
    };
  }, [client, org]);
}

/** The place of the active result: the first one, until another is chosen for the same text. */
function useActive(shown: readonly Hit[], text: string): [number, (place: number) => void] {
  const [chosen, setChosen] = useState({ text, name: "" });
  const nameOf = ({ kind, id }: Hit) => `${kind} ${id}`;
  const place = chosen.text === text ? shown.findIndex((hit) => nameOf(hit) === chosen.name) : 0;
  const choose = (next: number) => {
    const hit = shown[next];
    if (hit !== undefined) setChosen({ text, name: nameOf(hit) });
  };
  return [Math.max(place, 0), choose];
}
