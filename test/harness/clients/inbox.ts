import { DEADLINE_MS, within } from "../deadline.ts";

/** What a client received, in order. `next` removes the first match, waiting for it if necessary. */
export type Inbox<T> = {
  /** Everything ever received, removed or not. */
  readonly all: readonly T[];
  /** What was received and not yet removed. */
  readonly waiting: readonly T[];
  push(item: T): void;
  next(predicate?: (item: T) => boolean, what?: string, ms?: number): Promise<T>;
  /** Nothing more will come; waiting calls reject with the reason. */
  end(reason: string): void;
};

export function createInbox<T>(owner: string): Inbox<T> {
  const all: T[] = [];
  const waiting: T[] = [];
  const takers: { predicate: (item: T) => boolean; resolve: (item: T) => void; reject: (error: Error) => void }[] = [];
  let ended: string | undefined;
  return {
    all,
    waiting,
    push(item) {
      all.push(item);
      const index = takers.findIndex((taker) => taker.predicate(item));
      if (index < 0) waiting.push(item);
      else takers.splice(index, 1)[0]?.resolve(item);
    },
    next(predicate = () => true, what = "an event", ms = DEADLINE_MS) {
      const index = waiting.findIndex(predicate);
      const [found] = index < 0 ? [] : waiting.splice(index, 1);
      if (found !== undefined) return Promise.resolve(found);
      if (ended !== undefined) return Promise.reject(new Error(`${owner} waited for ${what}, but ${ended}`));
      const taker = { predicate, ...Promise.withResolvers<T>() };
      takers.push(taker);
      return within(
        taker.promise,
        () => `${what} at ${owner}; it has ${all.length} so far, the last: ${preview(all.at(-1))}`,
        ms,
      );
    },
    end(reason) {
      ended ??= reason;
      for (const taker of takers.splice(0)) taker.reject(new Error(`${owner} waited, but ${reason}`));
    },
  };
}

function preview(item: unknown): string {
  const text = JSON.stringify(item) ?? "nothing";
  return text.length > 300 ? `${text.slice(0, 300)}…` : text;
}
