/** The longest that a timer can be set for: a longer one would end at once. */
const longestTimerMs = 2 ** 31 - 1;

/** Resolves after `ms`, 24 days at most, or at once when `signal` aborts. Never rejects. */
export function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve();
    const finish = () => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", finish);
      resolve();
    };
    const timer = setTimeout(finish, Math.min(ms, longestTimerMs));
    signal?.addEventListener("abort", finish);
  });
}

/** Settles as `promise` does, or rejects with `timeout()` after `ms`. */
export function withTimeout<Value>(promise: Promise<Value>, ms: number, timeout: () => Error): Promise<Value> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(timeout()), ms);
    promise.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
