import type { LogEvent } from "../../../src/contract/log/log-event.ts";
import type { SystemMessageReadEvent } from "../../../src/contract/messages/inbox.ts";
import { timeOf } from "../../../src/lib/timed-ranges.ts";
import { noMarks } from "../../../src/store/inbox/ports.ts";
import type { Organization } from "../models/organization.ts";
import { goneAt, inboxOf } from "./inboxes.ts";

/**
 * Describes what is wrong with the marks of inboxes: that an item is told to be marked twice, or differs from what was told, unless
 * something became of it in a log that was lost.
 */
export function* judgeMarks(organization: Organization, endedAt: number): Iterable<string> {
  const { id: org, commits, lost, inboxMarks, purgedUpTo } = organization;
  const told = { seen: new Set<string>(), read: new Set<string>() };
  const uids = new Set<string>(inboxMarks.keys());
  for (const commit of commits) {
    if (commit?.event.kind !== "system_read") continue;
    const { id, uids: [uid = ""] = [], offset, payload } = commit.event;
    uids.add(uid);
    const { system_message_read: read }: SystemMessageReadEvent = JSON.parse(payload);
    const inbox = new Map(inboxOf(commits, uid).items.map(({ event }) => [event.id, event.offset]));
    for (const about of read.ids) {
      const key = `${uid} ${about}`;
      if ((inbox.get(about) ?? offset) >= offset) yield `${id} names ${about}, which is not in the inbox of ${uid}`;
      if ((read.seen ? told.seen : told.read).has(key)) yield `${id} says again that ${uid} has marked ${about}`;
      told.seen.add(key);
      if (!read.seen) told.read.add(key);
    }
  }
  for (const uid of uids) {
    const marks = inboxMarks.get(uid) ?? noMarks;
    const lostItems = lost.flatMap((life) => inboxOf(life.commits, uid).items);
    const hadChanged = ({ id }: LogEvent) =>
      lostItems.some((item) => item.event.id === id && Math.min(item.seenAt, goneAt(item)) <= endedAt);
    for (const item of inboxOf(commits, uid).items) {
      const { event, seenAt, readAt } = item;
      if (goneAt(item) <= endedAt || event.offset <= purgedUpTo || hadChanged(event)) continue;
      const { id, offset } = event;
      if ((timeOf(marks.read, offset) !== undefined) !== readAt <= endedAt)
        yield `${id} in ${org} is read by ${uid} in the inbox, or told to be, and not both`;
      if ((timeOf(marks.seen, offset) !== undefined) !== seenAt <= endedAt)
        yield `${id} in ${org} is seen by ${uid} in the inbox, or told to be, and not both`;
    }
  }
}
