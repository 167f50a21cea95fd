import { type HeraldError, rateExceeded, rateLimited } from "../../contract/errors/errors.ts";
import type { Clock } from "../../lib/time/clock.ts";

const windowMs = 60_000;
// Clients answer our pings, two or three a minute by default, and may send some of their own.
const pingsPerWindow = 300;
const framesHeld = 4;
const soonSeconds = 1;

/** What a socket sent in the current time window, and the bytes of its unanswered requests. */
export type FrameCounts = { windowStart: number; requests: number; pings: number; heldBytes: number };

/** Creates counts of zero. */
export function createFrameCounts(now: number): FrameCounts {
  return { windowStart: now, requests: 0, pings: 0, heldBytes: 0 };
}

type Options = { requestsPerWindow: number; frameBytes: number; clock: Clock };

/** Bounds what each socket may send. Each method returns the error `rate_limited` if the limit is exceeded. */
export function createFrameRates({ requestsPerWindow, frameBytes, clock }: Options) {
  const mostHeld = framesHeld * frameBytes;

  function turnWindow(counts: FrameCounts): void {
    const now = clock.now();
    if (now - counts.windowStart < windowMs) return;
    counts.windowStart = now;
    counts.requests = 0;
    counts.pings = 0;
  }

  function overRate(counts: FrameCounts, what: string, policy: string, quota: number): HeraldError {
    const waitMs = counts.windowStart + windowMs - clock.now();
    const detail = `a connection may send ${quota} ${what} in 60 seconds`;
    return rateExceeded({ detail, policy, quota, windowSeconds: windowMs / 1000, waitMs });
  }

  return {
    /** Counts a request, and its bytes until `release`. */
    takeRequest(counts: FrameCounts, bytes: number): HeraldError | undefined {
      turnWindow(counts);
      counts.requests++;
      counts.heldBytes += bytes;
      if (counts.heldBytes > mostHeld) {
        const detail = `at most ${mostHeld} bytes of requests may await a response; wait for responses before you send more`;
        return rateLimited({ detail, policy: "bytes-waiting", quota: mostHeld, retryAfterSeconds: soonSeconds });
      }
      if (counts.requests <= requestsPerWindow) return undefined;
      return overRate(counts, "requests", "requests-per-connection", requestsPerWindow);
    },
    release(counts: FrameCounts, bytes: number): void {
      counts.heldBytes -= bytes;
    },
    /** Counts a ping or a pong. */
    takePing(counts: FrameCounts): HeraldError | undefined {
      turnWindow(counts);
      counts.pings++;
      if (counts.pings <= pingsPerWindow) return undefined;
      return overRate(counts, "pings and pongs", "pings-per-connection", pingsPerWindow);
    },
  };
}
