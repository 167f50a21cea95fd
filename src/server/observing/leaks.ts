import type { Logger } from "pino";

const settlesWithinMs = 1_000;
const lookAgainMs = 10;

/**
 * Logs an error if anything is still held for connections after all have closed. Waits up to a second for them to end.
 */
export async function tellLeaks(held: () => Record<string, number>, log: Logger): Promise<void> {
  const end = performance.now() + settlesWithinMs;
  let left = heldOf(held());
  while (Object.keys(left).length > 0 && performance.now() < end) {
    await Bun.sleep(lookAgainMs);
    left = heldOf(held());
  }
  if (Object.keys(left).length === 0) return;
  log.error({ held: left }, "closed connections did not release all of their resources; please report this");
}

function heldOf(counts: Record<string, number>): Record<string, number> {
  return Object.fromEntries(Object.entries(counts).filter(([, count]) => count !== 0));
}
