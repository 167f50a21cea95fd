import { nextTurn } from "../event-loop/next-turn.ts";

/** Results of work that was begun in an order, taken in that order. What is begun and not yet taken is bounded. */
export type OrderedWindow<Result> = {
  /** Resolves once there is room for more, or the window is closed; `undefined` if that is so already. */
  room(): Promise<void> | undefined;
  /** Adds a result to come, which must not reject. Its weight counts until it is taken. */
  add(result: Promise<Result>, weight: number): void;
  /** Takes all results that are ready, and waits for the first; `undefined` once the window is closed and empty. */
  take(): Promise<Result[] | undefined>;
  /** Ends it: nothing is added any more, and nobody waits for room. */
  close(): void;
  /** Resolves once no result is to come any more. */
  settle(): Promise<void>;
};

/** How much may be begun and not yet taken. Something heavier than `weight` goes alone. */
export type WindowBounds = { items: number; weight: number };

type Slot<Result> = { settled: Promise<void>; weight: number; ready?: { result: Result } };

/** Creates an empty window, for one caller that adds and one that takes. */
export function createOrderedWindow<Result>(bounds: WindowBounds): OrderedWindow<Result> {
  const slots: Slot<Result>[] = [];
  let weight = 0;
  let isClosed = false;
  let tellAdder: (() => void) | undefined;
  let tellTaker: (() => void) | undefined;

  const hasRoom = () => slots.length === 0 || (slots.length < bounds.items && weight < bounds.weight);
  const isFirstReady = () => slots[0]?.ready !== undefined;
  const wakeTaker = () => {
    if (isFirstReady() || (isClosed && slots.length === 0)) tellTaker?.();
  };

  function takeReady(): Result[] {
    const results: Result[] = [];
    for (let first = slots[0]; first?.ready !== undefined; first = slots[0]) {
      slots.shift();
      weight -= first.weight;
      results.push(first.ready.result);
    }
    if (hasRoom()) tellAdder?.();
    return results;
  }

  return {
    room() {
      if (isClosed || hasRoom()) return undefined;
      return new Promise((resolve) => {
        tellAdder = resolve;
      });
    },
    add(result, itsWeight) {
      const settled = result.then((value) => {
        slot.ready = { result: value };
        wakeTaker();
      });
      const slot: Slot<Result> = { settled, weight: itsWeight };
      slots.push(slot);
      weight += itsWeight;
    },
    async take() {
      if (!isFirstReady() && !(isClosed && slots.length === 0)) {
        await new Promise<void>((resolve) => {
          tellTaker = resolve;
        });
        await nextTurn(); // what one commit decides is ready in the same turn
      }
      return slots.length === 0 ? undefined : takeReady();
    },
    close() {
      isClosed = true;
      tellAdder?.();
      wakeTaker();
    },
    async settle() {
      for (const { settled } of [...slots]) await settled;
    },
  };
}
