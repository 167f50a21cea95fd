// Attackers, in a process of their own that makes way for all others: they stand for machines elsewhere. The parent sends {raid, camp},
// and then {tell}: the answer is what they heard. They go on until the process is ended.
import type { Camp } from "./siege/camp.ts";
import { raidOf } from "./siege/raids/all.ts";
import { createTally, type Heard } from "./siege/tally.ts";

/** What the parent sends. */
export type AttackerOrder = { raid: string; camp: Camp } | { tell: true };

/** What attackers heard so far. */
export type AttackerReport = Heard;

const tally = createTally();

process.on("message", (order: AttackerOrder) => {
  if ("tell" in order) {
    process.send?.(tally.heard());
    return;
  }
  Promise.resolve(raidOf(order.raid).attack(order.camp, tally)).catch((error: unknown) => {
    throw error;
  });
});
