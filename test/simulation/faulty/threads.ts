import { pause } from "../models/time.ts";
import { product } from "../product.ts";
import { withThread, withTurns } from "./parts.ts";

const never = new Promise<never>(() => undefined);

/** An organization is served only while none before it in the alphabet waits. */
export const starves = withTurns((thread) => {
  const waiting = new Map<string, number>();
  return (given, cost, options) => {
    const org = typeof given === "string" ? given : given();
    const isFree = waiting.size === 0;
    const asked = isFree ? thread.turn(org, cost, options) : undefined;
    if (isFree && asked === undefined) return undefined;

    async function wait(): Promise<void> {
      waiting.set(org, (waiting.get(org) ?? 0) + 1);
      while (!isFree && [...waiting.keys()].some((other) => other < org)) await pause(1);
      await (asked ?? thread.turn(org, cost, options));
      const left = (waiting.get(org) ?? 0) - 1;
      if (left > 0) waiting.set(org, left);
      else waiting.delete(org);
    }
    return wait();
  };
});

/** All organizations wait in one line. */
export const servesInOrderOfArrival = withTurns(
  (thread) =>
    (_, cost, { owner } = {}) =>
      thread.turn("", cost, { owner }),
);

/** The last that waits is not told that the thread is free. */
export const forgetsTheLast = withTurns((thread) => (...of) => {
  const turn = thread.turn(...of);
  return turn?.then(() => (thread.waiting === 0 ? never : undefined));
});

/** Whatever waits begins in the same turn of the event loop. */
export const endsNoSlice = withThread((options) =>
  product.createThreadScheduler({ ...options, sliceUs: Number.POSITIVE_INFINITY }),
);

/** Once in a while, the next turn of the event loop is not asked for. */
export const takesNoTurn = withThread(({ defer = setImmediate, ...options } = {}) => {
  let turns = 0;
  return product.createThreadScheduler({
    ...options,
    defer: (callback) => (++turns % 10 === 0 ? undefined : defer(callback)),
  });
});

/** Work whose owner has closed waits for its turn like any other. */
export const keepsPlacesOfTheClosed = withTurns(
  (thread) =>
    (org, cost, { part } = {}) =>
      thread.turn(org, cost, { part }),
);

/** Everyone waits, even if nobody else does. */
export const alwaysWaits = withTurns(
  (thread) =>
    (...of) =>
      thread.turn(...of) ?? pause(1),
);
