import type { Histogram } from "../observing/histogram.ts";

const everyMs = 20;

/**
 * Records in `delays`, fifty times a second, how many milliseconds late a timer fires, which is how long everything
 * else due had to wait. Returns the function that stops it.
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
