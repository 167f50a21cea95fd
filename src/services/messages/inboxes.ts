import { z } from "zod";
import { unavailable } from "../../contract/errors/errors.ts";
import { errorAbout } from "../../contract/errors/naming.ts";
import { toIso } from "../../contract/identifiers.ts";
import { logStart } from "../../contract/log/log-place.ts";
import type { InboxItem } from "../../contract/messages/inbox.ts";
import { objectWith } from "../../lib/json/json-values.ts";
import { createBatcher } from "../../lib/queues/batcher.ts";
import { firstWithin } from "../../lib/queues/first-within.ts";
import { rowsOfStep } from "../../lib/queues/steps.ts";
import { encodeCursor } from "../../lib/text/cursor.ts";
import type { Clock } from "../../lib/time/clock.ts";
import { type TimedRange, timeOf } from "../../lib/timed-ranges.ts";
import type { InboxPlace, InboxReads, InboxStart, InboxWrites, Marks, NewMark } from "../../store/inbox/ports.ts";
import type { History } from "../../store/messages/ports.ts";
import type { LogReader, Organizations, UserReads } from "../../store/ports.ts";
import { requireUser } from "../directory/directory.ts";
import type { OrganizationUse } from "../limits/organization-use.ts";
import { type Page, type PageQuery, parseCursor } from "../pages.ts";
import { failAlone, type Outcome, resultOf } from "./fail-alone.ts";

type Dependencies = {
  inboxes: InboxReads & InboxWrites;
  history: Pick<History, "messagesAt">;
  log: Pick<LogReader, "heads">;
  users: Pick<UserReads, "get">;
  organizations: Pick<Organizations, "get">;
  use: Pick<OrganizationUse, "admitChange">;
  clock: Clock;
};

/** A user at a place in the log. */
type Reader = { org: string; uid: string; head: number };

/** Which items to list: those older than one, or only unread ones. */
type ListQuery = { limit: number; before?: string | undefined; unread?: boolean | undefined };

type Range = { limit: number; before: number | undefined; isUnread: boolean };

const maxPageBytes = 512 * 1024;
const mostMarked = 10_000; // at once, newest first; older ones are marked, too, and nobody is told
const maxBatch = rowsOfStep / 2;
const maxWaiting = 20_000;
const bytesOfMark = 512;
const start: InboxStart = { past: Number.MIN_SAFE_INTEGER, log: 0 };

const inboxPlace = z.strictObject({ before: z.int() });

/** The inboxes of users: system messages that are kept for them. */
export type Inboxes = ReturnType<typeof createInboxes>;

/** Creates inboxes on the store. Marks of one turn of the event loop, and those that arrive during a commit, share one. */
export function createInboxes(dependencies: Dependencies) {
  const { inboxes, history, log, use, clock } = dependencies;
  const batcher = createBatcher<NewMark, Outcome<void>>({
    flush: failAlone(async (marks: NewMark[]) => {
      await inboxes.markAll(marks);
      return marks.map(() => undefined);
    }),
    maxBatch,
    maxWaiting,
    keyOf: ({ org }) => org,
    whenFull: () => unavailable({ detail: "too many reads are waiting for the database; send them again" }),
  });

  async function store(mark: NewMark): Promise<void> {
    const tell = use.admitChange(mark.org, bytesOfMark);
    let isStored = false;
    try {
      resultOf(await batcher.add(mark));
      isStored = true;
    } finally {
      tell(isStored);
    }
  }

  /** The offset of an item; of several with this id, from several senders, of the oldest. */
  async function offsetOf(org: string, uid: string, id: string): Promise<number> {
    const item = (await inboxes.named(org, uid, [id], clock.now())).at(-1);
    if (item === undefined) throw errorAbout("message_not_found", { message: id });
    return item.offset;
  }

  /** As many of the items, at least one, as have 512 KiB together. */
  async function read(org: string, uid: string, { limit, before = Number.MAX_SAFE_INTEGER, isUnread }: Range) {
    const marks = await inboxes.marks(org, uid);
    const now = clock.now();
    const isWanted = ({ offset }: { offset: number }) => offset < before && timeOf(marks.read, offset) === undefined;
    const wanted = isUnread
      ? (await inboxes.items(org, uid, { after: markedUpTo(marks.read), now })).filter(isWanted)
      : await inboxes.newest(org, uid, { after: start, before, limit: limit + 1, now });
    const places = await placesOf(org, wanted.slice(0, limit));
    const fitting = firstWithin(places, ({ bytes }) => bytes, maxPageBytes);
    const rows = fitting.length === 0 ? [] : await history.messagesAt(org, fitting.map(offsetIn));
    const items = rows.flatMap(({ offset, payload }) => itemOf(payload, offset, marks) ?? []);
    return { items, last: fitting.at(-1), isWhole: fitting.length === places.length && wanted.length <= limit };
  }

  async function placesOf(org: string, items: readonly { offset: number }[]): Promise<InboxPlace[]> {
    return items.length === 0 ? [] : await inboxes.places(org, items.map(offsetIn));
  }

  /** What a call marks: the items among `ids`, or without them all that are not marked yet. */
  async function scopeOf(org: string, uid: string, ids: readonly string[] | undefined, seenOnly: boolean, now: number) {
    if (ids !== undefined) return { items: await inboxes.named(org, uid, ids, now), upTo: undefined };
    const upTo = (await log.heads([org])).get(org) ?? logStart;
    const { seen, read } = await inboxes.marks(org, uid);
    const ranges = seenOnly ? seen : read;
    const isNew = ({ offset }: { offset: number }) => offset <= upTo.offset && timeOf(ranges, offset) === undefined;
    const fresh = (await inboxes.items(org, uid, { after: markedUpTo(ranges), now })).filter(isNew);
    const places = await placesOf(org, fresh.slice(0, mostMarked));
    return { items: places.map((place) => ({ ...place, before: 0 })), upTo };
  }

  return {
    /** A page of the user's inbox, newest first. Throws `message_not_found` for a `before` that is not in it any more. */
    async list(org: string, uid: string, { limit, before, unread = false }: ListQuery): Promise<InboxItem[]> {
      const offset = before === undefined ? undefined : await offsetOf(org, uid, before);
      return (await read(org, uid, { limit, before: offset, isUnread: unread })).items;
    },
    /** The same for a caller of the admin API. Throws `user_not_found`. */
    async page(
      org: string,
      uid: string,
      { limit, cursor, unread }: PageQuery & { unread: boolean },
    ): Promise<Page<InboxItem>> {
      await requireUser(dependencies, org, uid);
      const before = parseCursor(cursor, inboxPlace)?.before;
      const { items, last, isWhole } = await read(org, uid, { limit, before, isUnread: unread });
      return { items, cursor: isWhole || last === undefined ? null : encodeCursor({ before: last.offset }) };
    },
    /** How many items up to the user's place in the log are unread; `undefined` if there never was one. */
    async countUnread({ org, uid, head }: Reader): Promise<number | undefined> {
      const { read, seen } = await inboxes.marks(org, uid);
      const after = markedUpTo(read);
      const now = clock.now();
      if (!isMarkedBehind(read, after)) {
        const { items, unsilent } = await inboxes.count(org, uid, { after, upTo: head, now });
        return items === 0 && seen.length === 0 ? undefined : unsilent;
      }
      const items = await inboxes.items(org, uid, { after, now });
      const isUnread = (item: { offset: number; isSilent: boolean }) =>
        !item.isSilent && item.offset <= head && timeOf(read, item.offset) === undefined;
      return items.filter(isUnread).length;
    },
    /** Marks items as read, or with `seen` as seen. Resolves when that is stored, or at once if all were marked before. */
    async mark(
      org: string,
      uid: string,
      { ids, seen = false }: { ids?: string[] | undefined; seen?: boolean | undefined },
    ) {
      const now = clock.now();
      const { items, upTo } = await scopeOf(org, uid, ids, seen, now);
      if (items.length > 0) await store({ org, uid, items, upTo, seenOnly: seen, now });
    },
  };
}

const offsetIn = ({ offset }: { offset: number }) => offset;

/** Up to which offsets everything is marked. */
function markedUpTo(ranges: readonly TimedRange[]): InboxStart {
  const endOf = (after: number) =>
    ranges.reduce((end, [first, last]) => (first <= end + 1 && last > end ? last : end), after);
  return { past: endOf(start.past), log: endOf(start.log) };
}

/** Whether something is marked behind these offsets, up to which everything is. */
function isMarkedBehind(ranges: readonly TimedRange[], { past, log }: InboxStart): boolean {
  return ranges.some(([, last]) => last > (last < 0 ? past : log));
}

/** A stored system message with its marks; `undefined` for a row that is damaged. */
function itemOf(payload: string, offset: number, { seen, read }: Marks): InboxItem | undefined {
  const message = objectWith(payload, "system_message")?.system_message;
  if (message === undefined) return undefined;
  const time = (at: number | undefined) => (at === undefined ? null : toIso(at));
  const marks = { seen_at: time(timeOf(seen, offset)), read_at: time(timeOf(read, offset)) };
  return { ...(message as Omit<InboxItem, keyof typeof marks>), ...marks };
}
