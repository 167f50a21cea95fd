import { useCallback, useEffect, useMemo, useRef, useState } from "preact/hooks";
import { useConsole } from "./context.ts";

/** A value that is loaded. `value` stays while it reloads. */
export type Loading<Value> = {
  value: Value | undefined;
  error: unknown;
  isLoading: boolean;
  reload(): void;
};

/** Does again what has failed, when the server is back. */
export function useWhenBack(hasFailed: boolean, again: () => void): void {
  const { comebacks } = useConsole();
  useEffect(() => {
    if (hasFailed) again();
  }, [comebacks]);
}

/** Loads on mount, whenever one of `inputs` changes, and if it has failed, when the server is back. Discards responses that a later load has superseded. */
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
  const reload = useCallback(() => setTurn((before) => before + 1), []);
  useWhenBack(state.error !== undefined, reload);
  return { ...state, reload };
}

/**
 * Calls `act` immediately and then every `everyMs`, one call at a time. Not while the tab is hidden, but at once when it is seen again,
 * and when the server is back.
 */
export function useRepeating(act: () => Promise<void>, everyMs: number, inputs: readonly unknown[]): void {
  const { comebacks } = useConsole();
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout>;
    let isOver = false;
    let isActing = false;
    const turn = async () => {
      clearTimeout(timer);
      isActing = true;
      if (!document.hidden) await act();
      isActing = false;
      if (!isOver) timer = setTimeout(() => void turn(), everyMs);
    };
    const see = () => {
      if (!document.hidden && !isActing) void turn();
    };
    document.addEventListener("visibilitychange", see);
    void turn();
    return () => {
      isOver = true;
      document.removeEventListener("visibilitychange", see);
      clearTimeout(timer);
    };
  }, [...inputs, comebacks]);
}

/** Runs one action at a time and keeps its outcome: what is asked for during one is ignored. For buttons that call the API. */
export function useAction<Arguments extends unknown[]>(act: (...given: Arguments) => Promise<void>) {
  const { noteFailure } = useConsole();
  const [state, setState] = useState<{ isBusy: boolean; error: unknown }>({ isBusy: false, error: undefined });
  const isActing = useRef(false); // the second click of a double click may come before the button is disabled
  const end = (error: unknown) => {
    isActing.current = false;
    setState({ isBusy: false, error });
  };
  const run = (...given: Arguments) => {
    if (isActing.current) return;
    isActing.current = true;
    setState({ isBusy: true, error: undefined });
    act(...given).then(
      () => end(undefined),
      (error: unknown) => {
        noteFailure(error);
        end(error);
      },
    );
  };
  return { ...state, run, clear: () => end(undefined) };
}

/** A paged list. */
export type Paged<Item> = Loading<Item[]> & { hasMore: boolean; more(): void };

type Page<Item> = { items: Item[]; cursor: string | null };
type ReadPage<Item> = (cursor: string | undefined, limit: number) => Promise<Page<Item>>;

const mostListed = 1_000; // the largest page that the server returns

/** Reads a page. Skips pages that are empty although more follow. */
export async function readOn<Item>(
  read: (cursor: string | undefined) => Promise<Page<Item>>,
  start: string | undefined,
): Promise<Page<Item>> {
  let page = await read(start);
  for (let skips = 0; page.items.length === 0 && page.cursor !== null && skips < 20; skips++)
    page = await read(page.cursor);
  return page;
}

/** Reads from the beginning until there are at least `count` items, in pages as large as possible. */
async function readAtLeast<Item>(count: number, read: ReadPage<Item>): Promise<Page<Item>> {
  const items: Item[] = [];
  let cursor: string | null = null;
  do {
    const limit = Math.min(mostListed, count - items.length);
    const page: Page<Item> = await readOn((at) => read(at, limit), cursor ?? undefined);
    items.push(...page.items);
    cursor = page.cursor;
  } while (items.length < count && cursor !== null);
  return { items, cursor };
}

/** The name of a list, which is the only one of that name on its page, and how many items a page of it has. */
type Remembered = { name: string; size: number };

/**
 * Reads the first page, and the next one on request. A list that is remembered is as long as it was, when it is reloaded or when the
 * reader comes back to its page.
 */
export function usePages<Item>(read: ReadPage<Item>, inputs: readonly unknown[], remembered?: Remembered): Paged<Item> {
  const { place } = useConsole();
  const { name, size = 1 } = remembered ?? {};
  const first = useLoading(async () => {
    const before = name === undefined ? 0 : (place.lengths.get(name) ?? 0);
    return await readAtLeast(Math.max(size, before), read);
  }, inputs);
  const [later, setLater] = useState<Page<Item> & { after: Page<Item> | undefined }>();
  const rest = later?.after === first.value ? later : undefined;
  const cursor = (rest ?? first.value)?.cursor ?? null;
  const next = useAction(async () => {
    const page = await readOn((at) => read(at, size), cursor ?? undefined);
    setLater({ items: [...(rest?.items ?? []), ...page.items], cursor: page.cursor, after: first.value });
  });
  const value = useMemo(
    () => (first.value === undefined ? undefined : [...first.value.items, ...(rest?.items ?? [])]),
    [first.value, rest],
  );
  const length = value?.length;
  useEffect(() => {
    if (name !== undefined && length !== undefined) place.lengths.set(name, length);
  }, [place, name, length]);
  useWhenBack(next.error !== undefined, next.run);
  return {
    value,
    error: first.error ?? next.error,
    isLoading: first.isLoading || next.isBusy,
    reload: first.reload,
    hasMore: cursor !== null,
    more: next.run,
  };
}
