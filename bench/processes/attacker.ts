// Attackers, in a process of their own with low priority, as they stand for machines elsewhere. The parent sends {attack,
// target}, and later {tell}, which is answered with what they heard. They continue until the process is ended, the parent
// is gone, or three minutes have passed.

import type { Target } from "../attacks/attack.ts";
import { createTally, type Heard } from "../attacks/clients/tally.ts";
import { attackOf } from "../attacks/kinds/all.ts";

/** What the parent sends. */
export type AttackerOrder = { attack: string; target: Target } | { tell: true };

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
  Promise.resolve(attackOf(order.attack).run(order.target, tally)).catch((error: unknown) => {
    throw error;
  });
});
