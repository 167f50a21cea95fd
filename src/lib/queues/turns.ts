import { createFairQueue } from "./fair-queue.ts";
import { createLinkedList } from "./linked-list.ts";

/**
 * Whose turn work belongs to: `shared` work serves many at once and has every second turn; other work takes turns by
 * what it is `of`. `isBulk` tells that it is one of many pieces that touch the same places.
 */
export type Turn = "shared" | { of: string; isBulk?: true };

/** Items waiting for their turns. */
export type Turns<Item> = {
  add(turn: Turn, item: Item): void;
  /** Takes the item whose turn it is, skipping the work of owners that are held. */
  take(isHeld?: (of: string) => boolean): Item | undefined;
  /** Takes the oldest item, regardless of turns. */
  takeOldest(): Item | undefined;
  readonly oldest: Item | undefined;
  readonly size: number;
};

type Entry<Item> = { item: Item; unqueue(): void };

/** Creates an empty set of waiting items. */
export function createTurns<Item>(): Turns<Item> {
  const shared = createFairQueue<() => Item>();
  const others = createFairQueue<() => Item>();
  const arrivals = createLinkedList<Entry<Item>>();
  let wasShared = false;

  return {
    add(turn, item) {
      const [queue, key] = turn === "shared" ? [shared, ""] : [others, turn.of];
      const place = queue.add(key, () => {
        arrivals.remove(arrival);
        return item;
      });
      const arrival = arrivals.append({ item, unqueue: () => queue.remove(place) });
    },
    take(isHeld) {
      wasShared = shared.size > 0 && (!wasShared || others.size === 0);
      return (wasShared ? shared.take() : others.take({ isHeld }))?.();
    },
    takeOldest() {
      const { first } = arrivals;
      if (first === undefined) return undefined;
      arrivals.remove(first);
      first.value.unqueue();
      return first.value.item;
    },
    get oldest() {
      return arrivals.first?.value.item;
    },
    get size() {
      return shared.size + others.size;
    },
  };
}
