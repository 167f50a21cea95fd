import { sleep } from "./timers.ts";

type Target = Partial<Pick<EventTarget, "addEventListener" | "removeEventListener">>;

/**
 * Sleeps for `ms`. In a browser, wakes early when the network comes back. Resolves immediately when `signal` aborts. Never
 * rejects.
 */
export async function sleepUntilOnline(ms: number, signal: AbortSignal, target: Target = globalThis): Promise<void> {
  const over = new AbortController();
  const wake = () => over.abort();
  target.addEventListener?.("online", wake);
  signal.addEventListener("abort", wake);
  try {
    if (!signal.aborted) await sleep(ms, over.signal);
  } finally {
    target.removeEventListener?.("online", wake);
    signal.removeEventListener("abort", wake);
  }
}
