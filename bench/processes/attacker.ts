// Attackers, in a process of their own with low priority, as they stand for machines elsewhere. The parent sends {raid,
// camp}, and later {tell}, which is answered with what they heard. They continue until the process is ended, the parent
// is gone, or three minutes have passed.

import { createTally, type Heard } from "../siege/attack/tally.ts";
import type { Camp } from "../siege/camp.ts";
import { raidOf } from "../siege/raids/all.ts";

/** What the parent sends. */
export type AttackerOrder = { raid: string; camp: Camp } | { tell: true };

/** What the attackers have heard so far. */
export type AttackerReport = Heard;

const longestMs = 180_000;

const tally = createTally();
setTimeout(() => process.exit(), longestMs);
process.on("disconnect", () => process.exit()); // nobody is left to end it

process.on("message", (order: AttackerOrder) => {
  if ("tell" in order) {
    process.send?.(tally.heard());
    return;
  }
  Promise.resolve(raidOf(order.raid).attack(order.camp, tally)).catch((error: unknown) => {
    throw error;
  });
});
