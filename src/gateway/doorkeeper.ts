import type { Limiter } from "../lib/limiter.ts";
import type { Owner } from "../lib/owner.ts";
import type { Session, Sessions } from "../services/sessions.ts";
import type { Places } from "./places.ts";

/** Lets users in. Both throw `unauthorized`, and `rate_limited` that says which limit it was and when to come back. */
export type Doorkeeper = {
  /**
   * Opens the session of somebody who comes: first the token's signature, which costs no query, then a place among the user's
   * connections, which belongs to `owner`, and only then, in turn, the database.
   */
  admit(owner: Owner, token: string, address: string): Promise<Session>;
  /** The same for somebody who is in already and goes on: takes no place, and does not wait behind those who want in. */
  renew(token: string, address: string): Promise<Session>;
};

type Dependencies = {
  sessions: Sessions;
  places: Pick<Places, "takeForUser">;
  /** Bounds how many sessions are being opened. */
  admission: Limiter;
};

/** The doorkeeper of one node. */
export function createDoorkeeper({ sessions, places, admission }: Dependencies): Doorkeeper {
  return {
    async admit(owner, token, address) {
      const identity = await sessions.identify(token, address);
      places.takeForUser(owner, identity);
      return await admission.run(() => sessions.open(identity), owner, identity.org);
    },
    async renew(token, address) {
      return await sessions.open(await sessions.identify(token, address));
    },
  };
}
