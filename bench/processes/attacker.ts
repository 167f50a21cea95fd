// Attackers, in a process of their own that makes way for all others: they stand for machines elsewhere. The parent sends {raid, camp},
// and then {tell}: the answer is what they heard. They go on until the process is ended, or the parent is gone, or three minutes have passed.

import { createTally, type Heard } from "../siege/attack/tally.ts";
import type { Camp } from "../siege/camp.ts";
import { raidOf } from "../siege/raids/all.ts";

/** What the parent sends. */
export type AttackerOrder = { raid: string; camp: Camp } | { tell: true };

/** What attackers heard so far. */
export type AttackerReport = Heard;

const longestMs = 180_000;

const tally = createTally();
setTimeout(() => process.exit(), longestMs);
process.on("disconnect", () => process.exit()); // nobody is left who would end it

process.on("message", (order: AttackerOrder) => {
  if ("tell" in order) {
    process.send?.(tally.heard());
    return;
  }
  Promise.resolve(raidOf(order.raid).attack(order.camp, tally)).catch((error: unknown) => {
    throw error;
  });
});
