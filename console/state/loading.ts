import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { useConsole } from "./context.ts";

/** A value that is loaded. `value` stays while it reloads. */
export type Loading<Value> = {
  value: Value | undefined;
  error: unknown;
  isLoading: boolean;
  reload(): void;
};

/** Loads on mount and whenever one of `inputs` changes. Discards responses that a later load has superseded. */
export function useLoading<Value>(load: () => Promise<Value>, inputs: readonly unknown[]): Loading<Value> {
  const { noteFailure } = useConsole();
  const [state, setState] = useState<Omit<Loading<Value>, "reload">>({
    value: undefined,
    error: undefined,
    isLoading: true,
  });
  const [turn, setTurn] = useState(0);
  const newest = useRef(0);
  const shownFor = useRef<string | undefined>(undefined);
  useEffect(() => {
    const mine = ++newest.current;
    const key = JSON.stringify(inputs);
    const isOther = shownFor.current !== key;
    shownFor.current = key;
    setState(({ value }) => ({ value: isOther ? undefined : value, error: undefined, isLoading: true }));
    load().then(
      (value) => mine === newest.current && setState({ value, error: undefined, isLoading: false }),
      (error: unknown) => {
        if (mine !== newest.current) return;
        noteFailure(error);
        setState(({ value }) => ({ value, error, isLoading: false }));
      },
    );
    return () => void newest.current++;
  }, [...inputs, turn]);
  return { ...state, reload: useCallback(() => setTurn((before) => before + 1), []) };
}

/** Calls `act` immediately and then every `everyMs`, one call at a time, and not while the tab is hidden. */
export function useRepeating(act: () => Promise<void>, everyMs: number, inputs: readonly unknown[]): void {
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout>;
    let isOver = false;
    const turn = async () => {
      if (!document.hidden) await act();
      if (!isOver) timer = setTimeout(() => void turn(), everyMs);
    };
    void turn();
    return () => {
      isOver = true;
      clearTimeout(timer);
    };
  }, inputs);
}

/** Runs one action at a time and keeps its outcome. For buttons that call the API. */
export function useAction<Arguments extends unknown[]>(act: (...given: Arguments) => Promise<void>) {
  const { noteFailure } = useConsole();
  const [state, setState] = useState<{ isBusy: boolean; error: unknown }>({ isBusy: false, error: undefined });
  const run = (...given: Arguments) => {
    setState({ isBusy: true, error: undefined });
    act(...given).then(
      () => setState({ isBusy: false, error: undefined }),
      (error: unknown) => {
        noteFailure(error);
        setState({ isBusy: false, error });
      },
    );
  };
  return { ...state, run, clear: () => setState({ isBusy: false, error: undefined }) };
}

/** A paged list. */
export type Paged<Item> = Loading<Item[]> & { hasMore: boolean; more(): void };

type ReadPage<Item> = (cursor: string | undefined) => Promise<{ items: Item[]; cursor: string | null }>;

/** Reads a page. Skips pages that are empty although more follow. */
export async function readOn<Item>(read: ReadPage<Item>, start: string | undefined) {
  let page = await read(start);
  for (let skips = 0; page.items.length === 0 && page.cursor !== null && skips < 20; skips++)
    page = await read(page.cursor);
  return page;
}

/** Reads the first page, and the next one on request. */
export function usePages<Item>(read: ReadPage<Item>, inputs: readonly unknown[]): Paged<Item> {
  const [later, setLater] = useState<{ items: Item[]; cursor: string | null }>();
  const first = useLoading(async () => {
    setLater(undefined);
    return await readOn(read, undefined);
  }, inputs);
  const cursor = later === undefined ? (first.value?.cursor ?? null) : later.cursor;
  const next = useAction(async () => {
    const page = await readOn(read, cursor ?? undefined);
    setLater((before) => ({ items: [...(before?.items ?? []), ...page.items], cursor: page.cursor }));
  });
  return {
    value: first.value === undefined ? undefined : [...first.value.items, ...(later?.items ?? [])],
    error: first.error ?? next.error,
    isLoading: first.isLoading || next.isBusy,
    reload: first.reload,
    hasMore: cursor !== null,
    more: next.run,
  };
}
