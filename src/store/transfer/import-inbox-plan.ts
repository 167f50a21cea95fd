import { joinIds } from "../../lib/text/ids.ts";
import { compacted, timeOf, withRange } from "../../lib/timed-ranges.ts";
import { cidOfEveryone, placeOfUser } from "../inbox/places.ts";
import { noMarks } from "../inbox/ports.ts";
import { beginning } from "../log/past.ts";
import type { Found } from "./import-look.ts";
import type {
  ImportedRange,
  ImportedRead,
  ImportedRecipients,
  ImportedSystemMessage,
  ImportFault,
  Range,
} from "./ports.ts";

/** What a part changes of what is marked, and of who has which system messages. */
export type InboxPlan = {
  /** Whose marks change, and whether they have none yet. */
  marked: Map<string, { isNew: boolean }>;
  /** Participants for whom what was imported begins later. */
  moved: Map<string, { cid: string; uid: string }>;
  ranges: (Range & { cid: string; uid: string })[];
  recipients: (ImportedRecipients & { offset: number })[];
};

type Options = {
  found: Found;
  /** Notes that the row of a user changes. */
  changeUser(uid: string): void;
};

/** Plans the lines about the inboxes of users. Each function returns whether anything changes. */
export function createInboxPlan({ found, changeUser }: Options) {
  const { users, conversations, participants, inboxes } = found;
  const plan: InboxPlan = { marked: new Map(), moved: new Map(), ranges: [], recipients: [] };

  function recipients(item: ImportedRecipients): boolean | ImportFault {
    const { of, uids } = item;
    const fault = missingUser(found, uids);
    if (fault !== undefined) return fault;
    const event = inboxes.events.get(of.id);
    const isAsImported = event !== undefined && event.offset < 0 && (event.payload === "") === of.isOver;
    if (!isAsImported || !isInInboxes(of)) return false;
    const { offset } = event;
    const fresh = uids.filter((uid) => !inboxes.rows.has(joinIds(placeOfUser(uid), offset)));
    for (const uid of fresh) inboxes.rows.add(joinIds(placeOfUser(uid), offset));
    if (fresh.length > 0) plan.recipients.push({ ...item, uids: fresh, offset });
    return fresh.length > 0;
  }

  function read({ uid, eventId, seenAt, readAt }: ImportedRead): boolean | ImportFault {
    const fault = missingUser(found, [uid]);
    if (fault !== undefined) return fault;
    const event = inboxes.events.get(eventId);
    if (event === undefined) return false;
    const { offset } = event;
    const before = inboxes.marks.get(uid) ?? noMarks;
    const isSeen = timeOf(before.seen, offset) !== undefined;
    const isRead = readAt === undefined || timeOf(before.read, offset) !== undefined;
    if (isSeen && isRead) return false;
    if (!plan.marked.has(uid)) plan.marked.set(uid, { isNew: !inboxes.marks.has(uid) });
    inboxes.marks.set(uid, {
      seen: compacted(withRange(before.seen, offset, offset, seenAt)),
      read: readAt === undefined ? before.read : compacted(withRange(before.read, offset, offset, readAt)),
    });
    return true;
  }

  /** The offset of an imported event. What was sent here is in the inboxes of those who were here. */
  function pastOffset(id: string): number | undefined {
    const offset = inboxes.events.get(id)?.offset;
    return offset !== undefined && offset < 0 ? offset : undefined;
  }

  /** Where what was imported begins for a user, or for a participant; `undefined` for one who does not take part. */
  function startOf({ uid, cid }: ImportedRange): number | undefined {
    const start = cid === undefined ? users.get(uid)?.pastStart : participants.get(joinIds(cid, uid));
    return start === null ? beginning : start;
  }

  function begin({ uid, cid }: ImportedRange, after: number): boolean {
    if (cid === undefined) {
      const user = users.get(uid);
      if (user !== undefined) users.set(uid, { ...user, pastStart: after });
      changeUser(uid);
    } else {
      participants.set(joinIds(cid, uid), after);
      plan.moved.set(joinIds(cid, uid), { cid, uid });
    }
    return true;
  }

  function addRange({ uid, cid = cidOfEveryone }: ImportedRange, { after, upTo }: Range): boolean {
    const key = joinIds(cid, uid);
    const others = inboxes.ranges.get(key) ?? [];
    const isThere = others.some((other) => other.after < upTo && after < other.upTo);
    if (isThere || after >= upTo) return false;
    inboxes.ranges.set(key, [...others, { after, upTo }]);
    plan.ranges.push({ cid, uid, after, upTo });
    return true;
  }

  function range(item: ImportedRange): boolean | ImportFault {
    const { uid, cid, after, upTo } = item;
    const fault = missingUser(found, [uid]);
    if (fault !== undefined) return fault;
    if (cid !== undefined && !conversations.has(cid)) return "conversation";
    const from = after === undefined ? beginning : pastOffset(after);
    if (from === undefined) return false;
    const start = startOf(item);
    if (upTo === undefined) return start !== undefined && start < from && begin(item, from);
    const to = pastOffset(upTo);
    // A user who is there has what lies behind the start anyway.
    return to !== undefined && to <= (start ?? to) && addRange(item, { after: from, upTo: to });
  }

  return { plan, recipients, read, range };
}

/** Whether inboxes have a row of a system message: of one that is over, only because of its key. */
export function isInInboxes({ isOver, kept }: Pick<ImportedSystemMessage, "isOver" | "kept">): boolean {
  return !isOver || kept.key !== undefined;
}

/** The fault of an item if one of the users does not exist. */
export function missingUser({ users }: Found, uids: readonly string[]): ImportFault | undefined {
  const user = uids.find((uid) => users.get(uid)?.isDeleted !== false);
  return user === undefined ? undefined : { user };
}
