import type { RefusedCheck } from "../../contract/presence.ts";
import { forgetOldest } from "../../lib/caches/forget-oldest.ts";
import { joinIds } from "../../lib/text/ids.ts";
import type { Clock } from "../../lib/time/clock.ts";

const mostUsers = 10_000;

type User = { org: string; uid: string };

/** How a connection ended: the close code of a WebSocket, and whether bytes were waiting for its reader. */
export type End = { code: number | undefined; isSlow: boolean };

/** What a node knows of a user. Times are in milliseconds since the Unix epoch. */
export type LastOfUser = {
  ended?: (End & { at: number }) | undefined;
  refused?: { check: RefusedCheck; at: number } | undefined;
};

/** What a node remembers of users: how the last connection ended, and which token was refused last. */
export type LastEnds = ReturnType<typeof createLastEnds>;

/** Creates an empty memory. Of more than 10,000 users, it forgets those that something was noted of first. */
export function createLastEnds({ clock }: { clock: Clock }) {
  const known = new Map<string, LastOfUser>();

  function note({ org, uid }: User, news: LastOfUser): void {
    const key = joinIds(org, uid);
    const before = known.get(key);
    known.delete(key);
    known.set(key, { ...before, ...news });
    forgetOldest(known, mostUsers);
  }

  return {
    /** A connection of the user to this node has ended. */
    noteEnd: (user: User, end: End): void => note(user, { ended: { ...end, at: clock.now() } }),
    /** A token that proves to be the user's was refused. */
    noteRefusal: (user: User, check: RefusedCheck): void => note(user, { refused: { check, at: clock.now() } }),
    of: ({ org, uid }: User): LastOfUser => known.get(joinIds(org, uid)) ?? {},
  };
}
