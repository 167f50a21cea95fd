/** Resolves after `ms`, or at once when `signal` aborts. Never rejects. */
export function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve();
    const finish = () => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", finish);
      resolve();
    };
    const timer = setTimeout(finish, ms);
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
