import { readlinkSync } from "node:fs";
import { setPriority } from "node:os";
import { basename } from "node:path";

// Nice values, with a tenth and a seventieth of the weight of the default.
const niceValues = { lower: 10, lowest: 19 };

/**
 * Lets other threads go first where there are more of them than processors: lowers the priority of the calling thread, on
 * Linux, where threads have priorities of their own (sched(7)). Elsewhere, it does nothing. `lower` is for work that somebody
 * waits for, `lowest` for what may take its time.
 */
export function lowerThreadPriority(to: keyof typeof niceValues): void {
  if (process.platform !== "linux") return;
  try {
    setPriority(Number(basename(readlinkSync("/proc/thread-self"))), niceValues[to]);
  } catch {
    // Without /proc, as in some sandboxes, or where it is forbidden: then threads are equal.
  }
}
