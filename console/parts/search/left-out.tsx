import { type Kind, kinds } from "../../state/search/match.ts";
import type { Source } from "../../state/search/source.ts";
import { explain } from "../problem.tsx";

/** The kinds that the key may not read, with the scopes that it lacks. */
export function LeftOut({ sources }: { sources: readonly Source[] }) {
  const scopes = [...new Set(sources.map(({ scope }) => scope))];
  if (scopes.length === 0) return null;
  return (
    <p class="fine">
      Your key does not find{" "}
      {scopes.map((scope, place) => (
        <span key={scope}>
          {place > 0 && "; "}
          {sources
            .filter((source) => source.scope === scope)
            .map(({ kind }) => kinds[kind].toLowerCase())
            .join(", ")}{" "}
          (<code>{scope}</code>)
        </span>
      ))}
      .
    </p>
  );
}

/** The kinds that could not be searched now, and why. */
export function Unsearched({ failures }: { failures: readonly { kind: Kind; error: unknown }[] }) {
  const [first] = failures;
  if (first === undefined) return null;
  return (
    <p class="field-error" role="alert">
      {failures.map(({ kind }) => kinds[kind]).join(", ")} could not be searched: {explain(first.error).detail}
    </p>
  );
}
