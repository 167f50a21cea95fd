import type { Histogram } from "../observing/histogram.ts";

const everyMs = 20;

/**
 * Counts in `delays` by how many milliseconds a timer came late, fifty times a second: so long whatever else was due had to
 * wait, too. Gives the function that ends it.
 */
export function watchEventLoop(delays: Histogram): () => void {
  let due = performance.now() + everyMs;
  const timer = setInterval(() => {
    const now = performance.now();
    delays.observe(Math.max(0, now - due));
    due = now + everyMs;
  }, everyMs);
  timer.unref();
  return () => clearInterval(timer);
}
