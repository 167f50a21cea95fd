/** A seeded source of numbers, from 0 inclusive to 1 exclusive (mulberry32). `TEST_SEED` repeats a run. */
export type Random = {
  seed: number;
  next(): number;
  integer(from: number, to: number): number;
  /** Picks one of the items; throws if there are none. */
  pick<T>(items: readonly T[]): T;
};

export function createRandom(seed: number = Number(process.env.TEST_SEED ?? Date.now() % 1_000_000_007)): Random {
  let state = seed >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
  const integer = (from: number, to: number) => from + Math.floor(next() * (to - from + 1));
  return {
    seed,
    next,
    integer,
    pick(items) {
      const item = items[integer(0, items.length - 1)];
      if (item === undefined) throw new Error("there is nothing to pick from");
      return item;
    },
  };
}

let counter = 0;

/** An identifier that no other test uses, so that tests on one server do not interfere. */
export function uniqueId(prefix: string): string {
  counter += 1;
  return `${prefix}-${counter}-${crypto.randomUUID().slice(0, 8)}`;
}
