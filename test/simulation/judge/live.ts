import type { Hearing } from "../models/client.ts";
import { type Commit, lastsAt } from "../models/organization.ts";
import { dueAt } from "./deadlines.ts";
import { conversationKinds, endCodes, type History, isAddressedTo, isBlanked, type Known } from "./history.ts";

const addressedKinds = new Set<string>(["system", "system_recall"]);
const namingKinds = new Set<string>(["read", "system_read"]);

/** Everything committed after the snapshot is heard, in time, and nothing else. */
export function* judgeLive(
  history: History,
  hearing: Hearing,
  known: Known,
  head: number,
  before: number,
): Iterable<string> {
  const live = hearing.heard.filter(({ event }) => event.offset > head);
  const { purgedUpTo } = history.organization(hearing.org);
  const given = new Set(live.map(({ event }) => event));
  // What is purged while a slow reader still catches up is lost to it, as to everyone.
  const isGone = ({ event, at }: Commit) =>
    event.offset <= purgedUpTo && !given.has(event) && at <= (hearing.joinedAt ?? Number.POSITIVE_INFINITY);
  // What was taken back or expired before it was due, or an edit that another replaced, may be left out.
  const isLeftOut = (commit: Commit) => {
    const due = dueAt(history, hearing, commit);
    return (
      !given.has(commit.event) && (!lastsAt(commit.event, due) || isBlanked(history, hearing, known, commit.event, due))
    );
  };
  const expected = concerning(known, hearing).filter(
    (commit) => commit.event.offset > head && commit.event.offset < before && !isGone(commit) && !isLeftOut(commit),
  );
  for (const [index, { event }] of live.entries()) {
    const due = expected[index]?.event;
    if (due !== event) {
      yield `hears ${event.id} at ${event.offset} where ${due === undefined ? "nothing" : `${due.id} at ${due.offset}`} is due`;
      return;
    }
  }
  const { ended, lost } = hearing;
  // A sign-out ends a connection that is still joining at once, and a joined one at its place in the log.
  const isWhole = ended === undefined || (ended.code === endCodes.removed && hearing.joinedAt !== undefined);
  for (const [index, commit] of expected.entries()) {
    const at = live[index]?.at;
    const due = dueAt(history, hearing, commit);
    const { id, offset } = commit.event;
    const isSettled = known.lostAt === Number.POSITIVE_INFINITY || (offset <= known.keptUpTo && due < known.lostAt);
    if (!isSettled) continue; // nothing can be promised about what was lost, nor about what came with it
    if (at === undefined && isWhole) yield `never hears ${id} at ${offset}`;
    else if (at === undefined && index >= live.length + lost && ended !== undefined && due < ended.at)
      yield `has not heard ${id} at ${offset} when it ends at ${ended.at}, due at ${due}`;
    else if (at !== undefined && at > due) yield `hears ${id} at ${at}, due at ${due}`;
  }
}

/** The events that a connection of the user must hear, according to the log's own membership events. */
function concerning({ commits }: Known, { uid }: Hearing): Commit[] {
  const cids = new Set<string>();
  const found: Commit[] = [];
  for (const commit of commits) {
    if (commit === undefined) continue;
    const { kind, cid = "" } = commit.event;
    if (conversationKinds.has(kind) && cids.has(cid)) found.push(commit);
    if (addressedKinds.has(kind) && isAddressedTo(commit.event, uid, cids)) found.push(commit);
    if (namingKinds.has(kind) && commit.event.uids?.includes(uid) === true) found.push(commit);
    if (commit.change?.added.includes(uid) === true) cids.add(cid);
    if (commit.change?.removed.includes(uid) === true) cids.delete(cid);
  }
  return found;
}
