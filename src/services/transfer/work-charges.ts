import type { SteadyClock } from "../../lib/time/clock.ts";

const permitEveryMs = 1_000;

/** How a call is charged, in requests, and how it is permitted again, as its work takes long. */
export type WorkingCall = {
  /** Charges work. Resolves once the limits of the key and its organization allow more. */
  pay(cost: number): Promise<void>;
  /** Checks again whether the key is valid and permits this; rejects if not. */
  permit(): Promise<void>;
};

/** Creates a check that calls `permit` once a second at most. */
export function permitAgain(permit: WorkingCall["permit"], elapsed: SteadyClock): WorkingCall["permit"] {
  let permittedAt = elapsed.now();
  return async () => {
    if (elapsed.now() - permittedAt <= permitEveryMs) return;
    permittedAt = elapsed.now();
    await permit();
  };
}

/** Creates what charges work to a call while it goes on. */
export function createWorkCharges({ pay, permit }: WorkingCall, elapsed: SteadyClock) {
  let uncharged = 0; // the part of a request that is not charged yet
  return {
    /** Charges work, of which one is a request. Resolves once the limits of the key and its organization allow more. */
    async charge(work: number): Promise<void> {
      uncharged += work;
      const whole = Math.floor(uncharged);
      await pay(whole);
      uncharged -= whole;
    },
    /** Checks once a second whether the key still permits the call; rejects if not. */
    permit: permitAgain(permit, elapsed),
  };
}
