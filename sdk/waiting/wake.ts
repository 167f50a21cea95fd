import { sleep } from "./timers.ts";

/** Where a page hears of its network and of being frozen. Elsewhere, such as in Node, only the clock tells. */
type Target = Partial<Pick<EventTarget, "addEventListener">>;

/** How often the clock is looked at. */
const tickMs = 1_000;
/** The clock of a computer that slept, or of a page that was frozen, jumps ahead. */
const jumpMs = 3_000;

/** Whether the device says that it has no network. Only browsers know. */
export const isOffline = (): boolean => globalThis.navigator?.onLine === false;

/**
 * Calls `wake` when the network comes back, when a page is resumed, and when the computer has slept, and `tick` every second or
 * `everyMs`, until `signal` aborts.
 */
export function watchWaking(
  { wake, tick, everyMs = tickMs }: { wake: () => void; tick?: () => void; everyMs?: number },
  signal: AbortSignal,
  target: Target = globalThis,
): void {
  if (signal.aborted) return;
  let at = Date.now();
  const timer = setInterval(() => {
    const passedMs = Date.now() - at;
    at += passedMs;
    if (passedMs > everyMs + jumpMs) wake();
    else tick?.();
  }, everyMs);
  signal.addEventListener("abort", () => clearInterval(timer));
  // `resume` is an event of the document, which the window hears while it is captured.
  for (const event of ["online", "resume", "pageshow"])
    target.addEventListener?.(event, wake, { capture: true, signal });
}

/** Sleeps for `ms`, or until the device wakes (see `watchWaking`). Resolves immediately when `signal` aborts. Never rejects. */
export async function sleepUntilAwake(ms: number, signal: AbortSignal, target?: Target): Promise<void> {
  const over = new AbortController();
  const wake = () => over.abort();
  signal.addEventListener("abort", wake, { signal: over.signal });
  if (signal.aborted) return;
  watchWaking({ wake }, over.signal, target);
  await sleep(ms, over.signal);
  wake();
}
