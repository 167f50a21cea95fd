import { createFairQueue } from "./fair-queue.ts";

/** Whose turn work waits for: `shared` is for many at once and has every second turn, whoever else waits; the rest take turns by what they are `of`. */
export type Turn = "shared" | { of: string };

/** What waits for its turn. */
export type Turns<Item> = {
  /** Adds an item, and returns what takes it out while it waits. */
  add(turn: Turn, item: Item): () => void;
  take(): Item | undefined;
  readonly size: number;
};

/** Nothing that waits. */
export function createTurns<Item>(): Turns<Item> {
  const shared = createFairQueue<Item>();
  const others = createFairQueue<Item>();
  let wasShared = false;

  return {
    add(turn, item) {
      const queue = turn === "shared" ? shared : others;
      const link = queue.add(turn === "shared" ? "" : turn.of, item);
      return () => queue.remove(link);
    },
    take() {
      wasShared = shared.size > 0 && (!wasShared || others.size === 0);
      return (wasShared ? shared : others).take();
    },
    get size() {
      return shared.size + others.size;
    },
  };
}
