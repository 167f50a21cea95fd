import { useEffect, useState } from "preact/hooks";
import { useConsole } from "../context.ts";
import { type Hit, type Kind, offered } from "./match.ts";
import type { Source } from "./source.ts";
import type { Typed } from "./typed.ts";

/** What the server has found so far. */
export type Found = {
  hits: readonly Hit[];
  /** What could not be searched, and why. */
  failures: readonly { kind: Kind; error: unknown }[];
  isBusy: boolean;
};

const typingMs = 150;
const nothing: Found = { hits: [], failures: [], isBusy: false };

/**
 * Searches all sources when nothing has been typed for a moment. What is found for an earlier text is never shown: its calls are
 * broken off, and their answers discarded.
 */
export function useSearch(sources: readonly Source[], typed: Typed): Found {
  const { noteFailure } = useConsole();
  const [found, setFound] = useState({ ...nothing, of: "" });
  const { text, isSecret, isWhole } = typed;
  useEffect(() => {
    if (text === "") {
      setFound({ ...nothing, of: text });
      return;
    }
    const over = new AbortController();
    const look = async () => {
      const asked = isSecret ? sources.filter(({ kind }) => kind === "key") : sources;
      const ask = async (some: readonly Source[]) =>
        await Promise.all(
          some.map(async ({ kind, find }) => {
            try {
              return { kind, hits: await find({ text, isSecret, isWhole }, over.signal) };
            } catch (error) {
              return { kind, hits: [], error };
            }
          }),
        );
      const looks = await ask(asked.filter(({ isLast }) => isLast !== true));
      if (over.signal.aborted) return;
      const hasFound = looks.some(({ hits }) => hits.some(({ rank }) => rank < offered));
      if (!hasFound) looks.push(...(await ask(asked.filter(({ isLast }) => isLast === true))));
      if (over.signal.aborted) return;
      const failures = looks.flatMap(({ kind, error }) => (error === undefined ? [] : [{ kind, error }]));
      for (const { error } of failures) noteFailure(error);
      setFound({ hits: looks.flatMap(({ hits }) => hits), failures, isBusy: false, of: text });
    };
    setFound({ ...nothing, isBusy: true, of: text });
    const timer = setTimeout(() => void look(), isWhole ? 0 : typingMs);
    return () => {
      clearTimeout(timer);
      over.abort();
    };
  }, [sources, text, isSecret, isWhole]);
  return found.of === text ? found : { ...nothing, isBusy: true };
}
