import { useEffect, useRef } from "preact/hooks";
import { type Group, type Hit, kinds, splitAt } from "../../state/search/match.ts";

type Props = {
  /** What the ids of its elements begin with. */
  id: string;
  groups: readonly Group[];
  text: string;
  /** The place of the active result, counted over all groups. */
  active: number;
  onChoose: (hit: Hit) => void;
};

/** The list of a combobox: results by kind, with what was typed marked in them. The focus stays in the field. */
export function Results({ id, groups, text, active, onChoose }: Props) {
  const list = useRef<HTMLDivElement>(null);
  useEffect(
    () => list.current?.querySelector('[aria-selected="true"]')?.scrollIntoView({ block: "nearest" }),
    [active, groups.length],
  );
  let place = 0;
  return (
    <div class="search-results" id={`${id}-results`} role="listbox" aria-label="Results" ref={list}>
      {groups.map(({ kind, hits }) => (
        // biome-ignore lint/a11y/useSemanticElements: a listbox has groups of options (ARIA 1.2), and no fieldsets
        <div role="group" key={kind} aria-labelledby={`${id}-${kind}`}>
          <p class="search-kind" role="presentation" id={`${id}-${kind}`}>
            {kinds[kind]}
          </p>
          {hits.map((hit) => {
            const at = place++;
            return (
              <Result
                key={hit.id}
                id={`${id}-${at}`}
                hit={hit}
                text={text}
                isActive={at === active}
                onChoose={onChoose}
              />
            );
          })}
        </div>
      ))}
    </div>
  );
}

type ResultProps = { id: string; hit: Hit; text: string; isActive: boolean; onChoose: (hit: Hit) => void };

function Result({ id, hit, text, isActive, onChoose }: ResultProps) {
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the field handles the keys
    // biome-ignore lint/a11y/useFocusableInteractive: the focus stays in the field, which names the active option
    <div class="search-result" role="option" id={id} aria-selected={isActive} onClick={() => onChoose(hit)}>
      <span>
        <Marked title={hit.title} text={text} />
      </span>
      {hit.note !== undefined && (
        <span class="mono quiet">
          <Marked title={hit.note} text={text} />
        </span>
      )}
    </div>
  );
}

function Marked({ title, text }: { title: string; text: string }) {
  const [before, match, after] = splitAt(title, text);
  if (match === "") return <>{title}</>;
  return (
    <>
      {before}
      <mark>{match}</mark>
      {after}
    </>
  );
}
