import { type Climate, longestTroubleMs } from "../climate.ts";
import { aboutOf } from "../models/changes.ts";
import type { Commit, Organization } from "../models/organization.ts";
import type { History } from "./history.ts";

/**
 * Describes what is wrong with the ends of messages and system messages in a log: one that ends twice, expires early or late, or
 * stays in the database, itself or an edit of it.
 */
export function* judgeEnds({ climate, outages, endedAt }: History, organization: Organization): Iterable<string> {
  const { commits, blankedAt, purgedUpTo } = organization;
  const ends = new Map<string, Commit>();
  for (const commit of commits) {
    if (commit === undefined || commit.event.kind === "edit") continue;
    for (const id of aboutOf(commit.event)) {
      const before = ends.get(id);
      // Who has left a conversation is told by name, in the same commit.
      if (before !== undefined && before.at !== commit.at) yield `${id} ends again by ${commit.event.id}`;
      ends.set(id, commit);
    }
  }
  const isCalm = outages.length === 0 && !hasTrouble(climate);
  for (const commit of commits) {
    if (commit?.event.expiresAt === undefined) continue;
    const { event, at } = commit;
    const { expiresAt = 0, offset, id } = event;
    const end = ends.get(aboutOf(event)[0] ?? id);
    if (end?.told !== undefined && "hasExpired" in end.told && end.at < expiresAt)
      yield `${id} ends at ${end.at}, and expires at ${expiresAt}`;
    const due = Math.max(expiresAt, at, isCalm ? 0 : climate.activeMs + longestTroubleMs) + endsWithinMs(climate);
    if (offset <= purgedUpTo || due > endedAt) continue;
    if (end === undefined) yield `${id} does not end, due at ${due}`;
    else if (end.at > due) yield `${id} ends at ${end.at}, due at ${due}`;
    if (!blankedAt.has(offset)) yield `${id} stays, and has expired at ${expiresAt}`;
  }
}

function hasTrouble({ aborts, restarts, failovers, store }: Climate): boolean {
  return aborts > 0 || restarts > 0 || failovers > 0 || store.misses > 0;
}

/** How long nodes take at most to end what has expired: they look for what others have taken, and wait for one another. */
function endsWithinMs({ store, commitMs, writers, markers, readers }: Climate): number {
  return 1_500 + 6 * store.latencyMs + (4 + writers + markers + readers) * commitMs;
}
