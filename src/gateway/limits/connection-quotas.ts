import { type HeraldError, rateLimited } from "../../contract/errors/errors.ts";
import type { Owner } from "../../lib/owner.ts";
import { createCounters } from "../../lib/rates/counters.ts";
import { joinIds } from "../../lib/text/joined-ids.ts";

const retryAfterSeconds = 5;

/** Limits the connections of each address, user and organization on this node. They count until their owner closes. */
export type ConnectionQuotas = {
  /** Throws `rate_limited` if the address already has as many connections as allowed. */
  takeForAddress(owner: Owner, address: string): void;
  /** Counts a refused connection that waits to be told so, towards a quota of the same size. False if that is used up. */
  takeForRefused(owner: Owner, address: string): boolean;
  /** Like `takeForAddress`, for a user. */
  takeForUser(owner: Owner, user: { org: string; uid: string }): void;
  /** Like `takeForAddress`, for an organization with at most `quota` user connections; 0 means no limit. */
  takeForOrganization(owner: Owner, org: string, quota: number): void;
  /** The number of connections of an address. */
  countOf(address: string): number;
  /** The number of connections counted, those that wait to be refused included. */
  count(): { addresses: number; users: number; organizations: number };
};

type Limits = { connectionsPerUser: number; connectionsPerAddress: number };

/** Creates quotas that nothing counts towards yet. */
export function createConnectionQuotas({ connectionsPerUser, connectionsPerAddress }: Limits): ConnectionQuotas {
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
  const detail = `this ${whose} has too many connections; close one, then try again`;
  return rateLimited({ detail, policy: `connections-per-${whose}`, quota, retryAfterSeconds });
}
