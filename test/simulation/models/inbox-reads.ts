import type { LogEvent } from "../../../src/contract/log/log-event.ts";
import { placeOfUser, placesOf } from "../../../src/store/inbox/places.ts";
import { type InboxItemPlace, type InboxPlace, type InboxReads, noMarks } from "../../../src/store/inbox/ports.ts";
import type { MissedEvent } from "../../../src/store/messages/ports.ts";
import type { ExpiryFlaw } from "./expiries.ts";
import type { InboxFlaw } from "./inbox-rows.ts";
import { type InboxRow, lastsAt, type Organization, shown, within } from "./organization.ts";

type Flaws = { inboxes?: InboxFlaw | undefined; expiry?: ExpiryFlaw | undefined };
type Missing = { after: number; upTo: number; now: number; limit: number };

const [ofEveryone = ""] = placesOf({ cid: undefined, uids: [] });

/** Creates what the product's ports read of inboxes, answered at once. */
export function createInboxReads(get: (org: string) => Organization, clock: () => number, flaws: Flaws) {
  function rowsOf(org: string, uid: string, after: number): InboxRow[] {
    const { inboxRows, stays, purgedUpTo } = get(org);
    const own = stays.filter((stay) => stay.uid === uid);
    const isOf = ({ place, offset }: InboxRow) =>
      place === placeOfUser(uid) ||
      place === ofEveryone ||
      own.some(
        ({ cid, ...stay }) => stay.after < offset && offset <= stay.upTo && placesOf({ cid, uids: [] }).includes(place),
      );
    return inboxRows.filter((row) => row.offset > Math.max(after, purgedUpTo) && isOf(row));
  }

  function itemsOf(org: string, uid: string, { after, now }: Parameters<InboxReads["items"]>[2]): InboxRow[] {
    const rows = rowsOf(org, uid, after.log);
    const newest = new Map<string, number>();
    for (const { senderKey, offset } of rows) if (senderKey !== undefined) newest.set(senderKey, offset);
    const isNewest = ({ senderKey, offset }: InboxRow) =>
      senderKey === undefined || flaws.inboxes === "replaces nothing" || newest.get(senderKey) === offset;
    const isThere = (row: InboxRow) => lastsAt(row, clock()) || flaws.expiry === "inboxes show what has expired";
    return rows.filter((row) => row.mid !== undefined && row.keptUntil > now && isNewest(row) && isThere(row));
  }

  function missedBy(org: string, uid: string, { after, upTo, now }: Missing): InboxRow[] {
    const isMissed = ({ offset, mid, senderKey, keptUntil }: InboxRow) =>
      offset <= upTo && keptUntil > now && (mid !== undefined || senderKey === undefined);
    return rowsOf(org, uid, after).filter((row) => isMissed(row) && lastsAt(row, clock()));
  }

  /** The events at these offsets that have a text and last. */
  function eventsAt(org: string, offsets: readonly number[]) {
    const organization = get(org);
    const there = offsets.filter((offset) => offset > organization.purgedUpTo);
    const events = there.flatMap((offset) => organization.commits[offset]?.event ?? []);
    const isThere = (event: LogEvent) => lastsAt(event, clock()) || flaws.expiry === "inboxes show what has expired";
    return events
      .map((event) => shown(organization, event))
      .filter((event) => event.payload.length > 0 && isThere(event));
  }

  return {
    marks: (org: string, uid: string) => get(org).inboxMarks.get(uid) ?? noMarks,
    items: (...of: Parameters<InboxReads["items"]>) => toOffsets(itemsOf(...of)),
    newest(org: string, uid: string, { before, limit, ...of }: Parameters<InboxReads["newest"]>[2]) {
      const older = itemsOf(org, uid, of).filter(({ offset }) => offset < before);
      return toOffsets(older).slice(0, limit);
    },
    count(org: string, uid: string, { upTo, ...of }: Parameters<InboxReads["count"]>[2]) {
      const items = itemsOf(org, uid, of);
      return {
        items: items.length,
        unsilent: items.filter(({ offset, isSilent }) => offset <= upTo && !isSilent).length,
      };
    },
    places: (org: string, offsets: readonly number[]): InboxPlace[] =>
      eventsAt(org, offsets).map(({ offset, id, payload }) => ({ offset, id, mid: id, bytes: payload.length })),
    messagesAt: (org: string, offsets: readonly number[]) =>
      eventsAt(org, offsets).map(({ offset, payload }) => ({
        offset,
        cid: "",
        payload,
        editedAt: undefined,
        reactions: undefined,
      })),
    named(org: string, uid: string, ids: readonly string[], now: number): InboxItemPlace[] {
      const items = itemsOf(org, uid, { after: { past: 0, log: 0 }, now });
      const placed = items.map(({ offset, mid = "" }, index) => {
        return { offset, id: mid, mid, before: items[index - 1]?.offset ?? 0 };
      });
      return placed.filter(({ mid }) => ids.includes(mid)).reverse();
    },
    countMissedKept: (org: string, uid: string, range: Missing) =>
      Math.min(range.limit, missedBy(org, uid, range).length),
    readMissedKept(org: string, uid: string, range: Missing & { maxBytes: number }): MissedEvent[] {
      const offsets = missedBy(org, uid, range).map(({ offset }) => offset);
      const events = within(range.maxBytes, eventsAt(org, offsets).slice(0, range.limit));
      return events.map((event) => ({ ...event, isRecipient: true }));
    },
  };
}

/** Where rows lie, newest first. */
function toOffsets(rows: readonly InboxRow[]) {
  return rows.map(({ offset, isSilent }) => ({ offset, isSilent })).reverse();
}
