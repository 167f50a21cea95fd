import { sleep } from "../waiting/timers.ts";
import { watchWaking } from "../waiting/wake.ts";

/** `ping` asks the server for a sign of life; `onDead` is called once if there is none in time. Times are in milliseconds. */
export type HeartbeatOptions = {
  quietMs: number;
  answerMs: number;
  ping: () => Promise<unknown>;
  onDead: () => void;
  /** Ends the monitoring. */
  signal: AbortSignal;
};

/** After waking, a server that does not answer within this time is gone. */
const wakingMs = 3_000;

/**
 * Pings when nothing has arrived for `quietMs`, and when the device wakes. Returns the function to call when something arrives:
 * anything counts as a sign of life, so a long replay that delays the response to a ping does not make the connection look dead.
 */
export function startHeartbeat({ quietMs, answerMs, ping, onDead, signal }: HeartbeatOptions): () => void {
  let heardAt = performance.now();
  let asked = false;

  function check(withinMs: number) {
    const askedAt = performance.now();
    asked = true;
    ping().catch(() => undefined); // its answer is heard like anything else, and a refusal is a sign of life, too
    void sleep(withinMs, signal).then(() => {
      asked = false;
      if (heardAt < askedAt && !signal.aborted) onDead();
    });
  }

  watchWaking(
    {
      wake: () => check(Math.min(wakingMs, answerMs)),
      tick: () => asked || performance.now() - heardAt < quietMs || check(answerMs),
      everyMs: Math.min(1_000, quietMs),
    },
    signal,
  );
  return () => {
    heardAt = performance.now();
  };
}
