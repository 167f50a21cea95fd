import { readlinkSync } from "node:fs";
import { setPriority } from "node:os";
import { basename } from "node:path";

/** A nice value that has a tenth of the weight of the default. */
const lowered = 10;

/**
 * Lets other threads go first where there are more of them than processors: lowers the priority of the calling thread, on
 * Linux, where threads have priorities of their own (sched(7)). Elsewhere, it does nothing.
 */
export function lowerThreadPriority(): void {
  if (process.platform !== "linux") return;
  try {
    setPriority(Number(basename(readlinkSync("/proc/thread-self"))), lowered);
  } catch {
    // Without /proc, as in some sandboxes, or where it is forbidden: then threads are equal.
  }
}
