import type { Owner } from "../../lib/owner.ts";
import type { Clock } from "../../lib/time/clock.ts";

const longestTimeoutMs = 2 ** 31 - 1;
const warnBeforeMs = 60_000;

/** Watches when one session expires, until its owner closes. */
export type SessionTimer = {
  /** Restarts with a new expiry, in milliseconds since the Unix epoch. */
  extend(expiresAt: number): void;
};

type Options = { owner: Owner; clock: Clock; onExpiring(expiresAt: number): void; onExpired(): void };

/** Calls `onExpiring` once, a minute before expiry or halfway to it, whichever is later, and `onExpired` at expiry. */
export function createSessionTimer({ owner, clock, onExpiring, onExpired }: Options): SessionTimer {
  let timer: ReturnType<typeof setTimeout> | undefined;
  owner.hold(() => clearTimeout(timer));

  function at(time: number, act: () => void): void {
    if (owner.isClosed) return;
    const delay = time - clock.now();
    // setTimeout fires at once for delays over about 24.8 days, and tokens live for up to 30.
    if (delay > longestTimeoutMs) timer = setTimeout(() => at(time, act), longestTimeoutMs);
    else timer = setTimeout(act, Math.max(0, delay));
  }

  return {
    extend(expiresAt) {
      clearTimeout(timer);
      const warnAt = Math.max(expiresAt - warnBeforeMs, (clock.now() + expiresAt) / 2);
      at(warnAt, () => {
        onExpiring(expiresAt);
        at(expiresAt, onExpired);
      });
    },
  };
}
