import type { Owner } from "../../lib/owner.ts";
import type { Clock } from "../../lib/time/clock.ts";

const longestTimeoutMs = 2 ** 31 - 1;
const warnBeforeMs = 60_000;

/** Who is told of the expiry of a session. */
export type Expiring = { onExpiring(expiresAt: number): void; onExpired(): void };

/**
 * Calls `onExpiring` once, a minute before expiry or halfway to it, whichever is later, and `onExpired` at expiry. Ends with its
 * owner. A class, as each connection has one.
 */
export class SessionTimer {
  readonly #owner: Owner;
  readonly #clock: Clock;
  readonly #session: Expiring;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(owner: Owner, clock: Clock, session: Expiring) {
    this.#owner = owner;
    this.#clock = clock;
    this.#session = session;
    owner.hold(() => clearTimeout(this.#timer));
  }

  /** Restarts with a new expiry, in milliseconds since the Unix epoch. */
  extend(expiresAt: number): void {
    clearTimeout(this.#timer);
    const warnAt = Math.max(expiresAt - warnBeforeMs, (this.#clock.now() + expiresAt) / 2);
    this.#at(warnAt, () => {
      this.#session.onExpiring(expiresAt);
      this.#at(expiresAt, () => this.#session.onExpired());
    });
  }

  #at(time: number, act: () => void): void {
    if (this.#owner.isClosed) return;
    const delay = time - this.#clock.now();
    // setTimeout fires at once for delays over about 24.8 days, and tokens live for up to 30.
    if (delay > longestTimeoutMs) this.#timer = setTimeout(() => this.#at(time, act), longestTimeoutMs);
    else this.#timer = setTimeout(act, Math.max(0, delay));
  }
}
