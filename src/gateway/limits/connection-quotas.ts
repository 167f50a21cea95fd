import { type HeraldError, rateLimited } from "../../contract/errors/errors.ts";
import type { Owner } from "../../lib/owner.ts";
import { createCounters } from "../../lib/rates/counters.ts";
import { joinIds } from "../../lib/text/ids.ts";

const retryAfterSeconds = 5;

type Limits = { connectionsPerUser: number; connectionsPerAddress: number };

/** Creates quotas that nothing counts towards yet. */
export function createConnectionQuotas({ connectionsPerUser, connectionsPerAddress }: Limits) {
  const perUser = createCounters(connectionsPerUser);
  const perAddress = createCounters(connectionsPerAddress);
  const refusedPerAddress = createCounters(connectionsPerAddress);
  const perOrganization = createCounters();
  return {
    /** Throws `rate_limited` if the address already has as many connections as allowed. */
    takeForAddress(owner: Owner, address: string): void {
      if (!perAddress.take(address)) throw tooMany("address", connectionsPerAddress);
      owner.hold(() => perAddress.release(address));
    },
    /** Counts a refused connection that waits to be told so, towards a quota of the same size. False if that is used up. */
    takeForRefused(owner: Owner, address: string): boolean {
      if (!refusedPerAddress.take(address)) return false;
      owner.hold(() => refusedPerAddress.release(address));
      return true;
    },
    /** Like `takeForAddress`, for a user. */
    takeForUser(owner: Owner, { org, uid }: { org: string; uid: string }): void {
      const user = joinIds(org, uid);
      if (!perUser.take(user)) throw tooMany("user", connectionsPerUser);
      owner.hold(() => perUser.release(user));
    },
    /** Like `takeForAddress`, for an organization with at most `quota` user connections; 0 means no limit. */
    takeForOrganization(owner: Owner, org: string, quota: number): void {
      if (!perOrganization.take(org, quota || undefined)) throw tooMany("organization", quota);
      owner.hold(() => perOrganization.release(org));
    },
    /** The number of connections of an address. */
    countOf: perAddress.countOf,
    /** The number of connections counted, those that wait to be refused included. */
    count: (): { addresses: number; users: number; organizations: number } => ({
      addresses: perAddress.total + refusedPerAddress.total,
      users: perUser.total,
      organizations: perOrganization.total,
    }),
  };
}

/** Limits the connections of each address, user and organization on this node. They count until their owner closes. */
export type ConnectionQuotas = ReturnType<typeof createConnectionQuotas>;

function tooMany(whose: "user" | "address" | "organization", quota: number): HeraldError {
  const detail = `this ${whose} has too many connections; close one, then try again`;
  return rateLimited({ detail, policy: `connections-per-${whose}`, quota, retryAfterSeconds });
}
