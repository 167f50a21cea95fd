import { type HeraldError, rateLimited } from "../../contract/errors/errors.ts";
import type { Owner } from "../../lib/owner.ts";
import { createCounters } from "../../lib/rates/counters.ts";
import { joinIds } from "../../lib/text/joined-ids.ts";

const retryAfterSeconds = 5;

/** How many connections an address, a user and an organization have on this node. A place is given back when its owner closes. */
export type Places = {
  /** Throws `rate_limited` when the address has as many connections as it may. */
  takeForAddress(owner: Owner, address: string): void;
  /** Takes a place for somebody who was refused one and has not heard so yet: an address has as many of these. False when it has none. */
  takeForRefused(owner: Owner, address: string): boolean;
  /** The same for a user. */
  takeForUser(owner: Owner, user: { org: string; uid: string }): void;
  /** The same for an organization, which may have `quota` connections of users; 0: as many as it likes. */
  takeForOrganization(owner: Owner, org: string, quota: number): void;
  /** How many connections an address has. */
  countOf(address: string): number;
  /** How many places are taken. */
  count(): { addresses: number; users: number; organizations: number };
};

type Limits = { connectionsPerUser: number; connectionsPerAddress: number };

/** Places, none of which is taken. */
export function createPlaces({ connectionsPerUser, connectionsPerAddress }: Limits): Places {
  const perUser = createCounters(connectionsPerUser);
  const perAddress = createCounters(connectionsPerAddress);
  const refusedPerAddress = createCounters(connectionsPerAddress);
  const perOrganization = createCounters();
  return {
    takeForAddress(owner, address) {
      if (!perAddress.take(address)) throw tooMany("address", connectionsPerAddress);
      owner.hold(() => perAddress.release(address));
    },
    takeForRefused(owner, address) {
      if (!refusedPerAddress.take(address)) return false;
      owner.hold(() => refusedPerAddress.release(address));
      return true;
    },
    takeForUser(owner, { org, uid }) {
      const user = joinIds(org, uid);
      if (!perUser.take(user)) throw tooMany("user", connectionsPerUser);
      owner.hold(() => perUser.release(user));
    },
    takeForOrganization(owner, org, quota) {
      if (!perOrganization.take(org, quota || undefined)) throw tooMany("organization", quota);
      owner.hold(() => perOrganization.release(org));
    },
    countOf: perAddress.countOf,
    count: () => ({
      addresses: perAddress.total + refusedPerAddress.total,
      users: perUser.total,
      organizations: perOrganization.total,
    }),
  };
}

function tooMany(whose: "user" | "address" | "organization", quota: number): HeraldError {
  const detail = `this ${whose} has too many connections; close one first`;
  return rateLimited({ detail, policy: `connections-per-${whose}`, quota, retryAfterSeconds });
}
