import type { Owner } from "../../lib/owner.ts";
import type { TimerWheel } from "../../lib/time/timer-wheel.ts";

/** The remote end of a line, which answers pings. */
export type Peer = {
  ping(): void;
  /** Whether anything has arrived since the last ping. */
  isAlive(): boolean;
  cut(): void;
};

type Wheel = Pick<TimerWheel, "after">;

/** A timer that ends with its owner. A class, as each connection has one. */
class Timer {
  readonly #wheel: Wheel;
  readonly #owner: Owner;
  #cancel: (() => void) | undefined;

  constructor(wheel: Wheel, owner: Owner) {
    this.#wheel = wheel;
    this.#owner = owner;
    owner.hold(() => this.#cancel?.());
  }

  /** Calls `act` after `ms`, replacing the call set before. */
  set(ms: number, act: () => void): void {
    this.#cancel?.();
    this.#cancel = this.#owner.isClosed ? undefined : this.#wheel.after(ms, act);
  }
}

// Steps by the golden ratio keep each phase far from all earlier ones, so that lines opened together do not beat
// together.
const phaseStep = 0.618034;

/** Creates heartbeats that are driven by the turns of `wheel`. */
export function createHeartbeats({ wheel }: { wheel: Wheel }) {
  let phase = 0;

  /** Puts the first beat up to half an interval early. */
  function firstAfter(ms: number): number {
    phase = (phase + phaseStep) % 1;
    return ms * (0.5 + phase / 2);
  }

  return {
    /** Calls `act` after `ms`, unless the owner has closed. */
    once(owner: Owner, ms: number, act: () => void): void {
      const letGo = owner.hold(
        wheel.after(ms, () => {
          letGo();
          act();
        }),
      );
    },
    /** Calls `beat` every `ms` until the owner closes. */
    repeat(owner: Owner, ms: number, beat: () => void): void {
      const timer = new Timer(wheel, owner);
      function again(): void {
        timer.set(ms, again);
        beat();
      }
      timer.set(firstAfter(ms), again);
    },
    /** Pings every `pingMs`, and cuts a peer that has not answered `pongMs` later. */
    watch(owner: Owner, { pingMs, pongMs }: { pingMs: number; pongMs: number }, peer: Peer): void {
      const timer = new Timer(wheel, owner);
      function askAgain(): void {
        timer.set(pongMs, lookAgain);
        peer.ping();
      }
      function lookAgain(): void {
        if (peer.isAlive()) timer.set(Math.max(0, pingMs - pongMs), askAgain);
        else peer.cut();
      }
      timer.set(firstAfter(pingMs), askAgain);
    },
  };
}

/** Timers and heartbeats on a timer wheel. */
export type Heartbeats = ReturnType<typeof createHeartbeats>;
