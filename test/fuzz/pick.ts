import type { Random } from "../harness/random.ts";

/** Picks one of the items. */
export function pick<Item>(random: Random, items: readonly [Item, ...Item[]]): Item {
  return items[random.integer(0, items.length - 1)] ?? items[0];
}

/** True once in `inTimes` calls, on average. */
export function once(random: Random, inTimes: number): boolean {
  return random.integer(1, inTimes) === 1;
}

/** Up to `atMost` bytes of any value. */
export function anyBytes(random: Random, atMost: number): Buffer {
  return Buffer.from(Array.from({ length: random.integer(0, atMost) }, () => random.integer(0, 255)));
}

/** The bytes with some removed, repeated, or replaced by others. */
export function damage(random: Random, bytes: Buffer): Buffer {
  const at = random.integer(0, bytes.length);
  const until = Math.min(bytes.length, at + random.integer(0, 8));
  const between = pick(random, [anyBytes(random, 6), bytes.subarray(at, until + 4), Buffer.alloc(0)]);
  return Buffer.concat([bytes.subarray(0, at), between, bytes.subarray(until)]);
}
