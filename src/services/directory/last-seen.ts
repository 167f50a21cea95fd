import { rowsOfStatement } from "../../lib/queues/steps.ts";
import type { Clock } from "../../lib/time/clock.ts";
import type { UserWrites } from "../../store/ports.ts";

const mostUsers = 100_000;

type Dependencies = { users: Pick<UserWrites, "noteSeen">; clock: Clock };

/** Records when users were last connected. */
export type LastSeen = ReturnType<typeof createLastSeen>;

/** Creates the record of one node. */
export function createLastSeen({ users, clock }: Dependencies) {
  const noted = new Map<string, Set<string>>();
  let size = 0;

  /** Takes some of the users: they are not noted any more. */
  function takeSome(): { org: string; uids: string[] }[] {
    const taken: { org: string; uids: string[] }[] = [];
    let left = rowsOfStatement;
    for (const [org, ofOrg] of noted) {
      if (left === 0) break;
      const uids = [...ofOrg].slice(0, left);
      for (const uid of uids) ofOrg.delete(uid);
      if (ofOrg.size === 0) noted.delete(org);
      left -= uids.length;
      taken.push({ org, uids });
    }
    size -= rowsOfStatement - left;
    return taken;
  }

  return {
    /** The user's last connection to this node has ended. Recorded by the next flush; beyond 100,000 users, not at all. */
    note(org: string, uid: string): void {
      if (size === mostUsers) return;
      const ofOrg = noted.get(org) ?? new Set();
      if (ofOrg.has(uid)) return;
      noted.set(org, ofOrg.add(uid));
      size++;
    },
    /** Stores what was noted, with the current time. Rejects if some of it could not be stored, which is then forgotten. */
    async flush(): Promise<void> {
      while (size > 0) await users.noteSeen(takeSome(), clock.now());
    },
  };
}
