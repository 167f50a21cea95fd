import type { Clock } from "../../lib/time/clock.ts";

const permitEveryMs = 1_000;

/** What a transfer owes for its work while it goes on. */
export type Toll = {
  /** Charges work, of which one is a request. Resolves once the limits of the key and its organization allow more. */
  charge(work: number): Promise<void>;
  /** Checks once a second whether the key still permits the call; rejects if not. */
  permit(): Promise<void>;
};

/** How a call is charged, in requests, and how it is permitted again. */
type Call = { pay(cost: number): Promise<void>; permit(): Promise<void> };

/** Creates a check that calls `permit` once a second at most. `elapsed` is a clock that never goes back. */
export function permitAgain(permit: Call["permit"], elapsed: Clock): Toll["permit"] {
  let permittedAt = elapsed.now();
  return async () => {
    if (elapsed.now() - permittedAt <= permitEveryMs) return;
    permittedAt = elapsed.now();
    await permit();
  };
}

/** Creates the toll of a call. `elapsed` is a clock that never goes back. */
export function createToll({ pay, permit }: Call, elapsed: Clock): Toll {
  let owed = 0; // the part of a request that is not charged yet
  return {
    async charge(work) {
      owed += work;
      const whole = Math.floor(owed);
      await pay(whole);
      owed -= whole;
    },
    permit: permitAgain(permit, elapsed),
  };
}
