import type { Owner } from "../../lib/owner.ts";
import type { TimerWheel } from "../../lib/time/timer-wheel.ts";

/** Calls `act` after `ms`, replacing the call set before. Ends with its owner. */
export type Timer = (ms: number, act: () => void) => void;

/** The remote end of a line, which answers pings. */
export type Peer = {
  pingMs: number;
  pongMs: number;
  ping(): void;
  /** Whether anything has arrived since the last ping. */
  isAlive(): boolean;
  cut(): void;
};

// Steps by the golden ratio keep each phase far from all earlier ones, so that lines opened together do not beat
// together.
const phaseStep = 0.618034;

/** Creates heartbeats that are driven by the turns of `wheel`. */
export function createHeartbeats({ wheel }: { wheel: Pick<TimerWheel, "after"> }) {
  let phase = 0;

  /** Puts the first beat up to half an interval early. */
  function firstAfter(ms: number): number {
    phase = (phase + phaseStep) % 1;
    return ms * (0.5 + phase / 2);
  }

  function timerOf(owner: Owner): Timer {
    let cancel = () => {};
    owner.hold(() => cancel());
    return (ms, act) => {
      cancel();
      if (!owner.isClosed) cancel = wheel.after(ms, act);
    };
  }

  return {
    /** A timer that ends with its owner. */
    timerOf,
    /** Calls `beat` every `ms` until the owner closes. */
    repeat(owner: Owner, ms: number, beat: () => void): void {
      const timer = timerOf(owner);
      function again(): void {
        timer(ms, again);
        beat();
      }
      timer(firstAfter(ms), again);
    },
    /** Pings every `pingMs`, and cuts a peer that has not answered `pongMs` later. */
    watch(owner: Owner, { pingMs, pongMs, ping, isAlive, cut }: Peer): void {
      const timer = timerOf(owner);
      function askAgain(): void {
        timer(pongMs, lookAgain);
        ping();
      }
      function lookAgain(): void {
        if (isAlive()) timer(Math.max(0, pingMs - pongMs), askAgain);
        else cut();
      }
      timer(firstAfter(pingMs), askAgain);
    },
  };
}

/** Timers and heartbeats on a timer wheel. */
export type Heartbeats = ReturnType<typeof createHeartbeats>;
