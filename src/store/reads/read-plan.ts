import { toSeconds } from "../../contract/identifiers.ts";
import type { MessageReadEvent } from "../../contract/messages/reads.ts";
import { createId, joinIds } from "../../lib/text/ids.ts";
import type { NewEvent } from "../log/log-writer.ts";
import type { NewNotice } from "../webhooks/posts.ts";
import type { NewRead, ReadResult, UnreadMessage } from "./ports.ts";

/** A user in a conversation. */
export type Place = { org: string; cid: string; uid: string };

/**
 * What a commit finds: by `placeKey`, up to which offset each reader has read, and which authors take part; and the ids of
 * the events at given offsets, by `eventKey`.
 */
export type FoundMarks = {
  marks: ReadonlyMap<string, number>;
  participants: ReadonlySet<string>;
  ids: ReadonlyMap<string, string>;
};

/** The key of a user in a conversation. */
export function placeKey({ org, cid, uid }: Place): string {
  return joinIds(org, cid, uid);
}

/** The key of an event by its place. */
export function eventKey({ org, offset }: { org: string; offset: number }): string {
  return joinIds(org, offset);
}

/**
 * Decides reads in their order, by the marks under the lock: a mark moves forward only, and an event names only
 * messages beyond the mark before it. So nobody hears of a message twice, however many calls looked at the same time.
 */
export function planReads(reads: readonly NewRead[], { marks, participants, ids }: FoundMarks) {
  const current = new Map(marks);
  const moved = new Map<string, Place & { read_to: number; read_at: number; read_at_offset: number }>();
  const events: NewEvent[] = [];
  const read: { org: string; notice: NewNotice }[] = [];
  const results = reads.map((call): ReadResult => {
    const key = placeKey(call);
    const mark = current.get(key);
    if (mark === undefined) return "left";
    // If the newest message is still in its place, so is everything before it. What was after it may be another log.
    const newest = call.unread.at(-1);
    if (newest === undefined) return 0;
    if (ids.get(eventKey({ ...newest, org: call.org })) !== newest.id) return "stale";
    const unread = call.unread.filter(({ offset }) => offset > mark);
    if (unread.length === 0) return 0;
    const { org, cid, uid, now } = call;
    current.set(key, newest.offset);
    moved.set(key, { org, cid, uid, read_to: newest.offset, read_at: now, read_at_offset: newest.offset });
    read.push({ org, notice: noticeOf({ cid, uid, now }, unread) });
    const told = eventsOf(call, unread, participants);
    events.push(...told);
    return told.length;
  });
  return { results, moved: [...moved.values()], events, read };
}

/** What webhooks are told: all that was read, whoever wrote it. */
function noticeOf(
  { cid, uid, now }: Pick<NewRead, "cid" | "uid" | "now">,
  unread: readonly UnreadMessage[],
): NewNotice {
  const data = (): MessageReadEvent => ({
    message_read: { ids: unread.map(({ id }) => id), cid, from: uid, t: toSeconds(now) },
  });
  return { type: "message.read", at: now, data };
}

/** An event for each author who takes part, in the order of their first message. */
function eventsOf(
  { org, cid, uid, now, keyId }: NewRead,
  unread: UnreadMessage[],
  participants: ReadonlySet<string>,
): NewEvent[] {
  const ofAuthors = [...Map.groupBy(unread, ({ sender }) => sender)];
  const present = ofAuthors.filter(([author]) => participants.has(placeKey({ org, cid, uid: author })));
  return present.map(([author, messages]) => {
    const ids = messages.map(({ id }) => id);
    const event: MessageReadEvent = { message_read: { ids, cid, from: uid, t: toSeconds(now) } };
    const payload = JSON.stringify(event);
    // Without `cid`, so that pages of the conversation's messages have no reads to skip.
    const of = { org, kind: "read", cid: undefined, sender: uid, createdAt: now, keyId } as const;
    return { ...of, id: createId(now), uids: [author], payload };
  });
}
