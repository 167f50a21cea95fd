import { nextTurn } from "../../lib/event-loop/next-turn.ts";
import type { Clock } from "../../lib/time/clock.ts";
import type { MissedKept } from "../../store/inbox/ports.ts";
import type { MissedEvent, MissedEvents } from "../../store/messages/ports.ts";

/** An absent user, the head up to which to catch up, and whether the organization keeps system messages in inboxes. */
export type Absence = { org: string; uid: string; head: number; hasInboxes: boolean };

/** Finds what a connection missed. */
export type Recovery = ReturnType<typeof createRecovery>;

const pageSize = 50;
const narrowest = 2 * pageSize;
const growth = 4;
const dayMs = 24 * 3600 * 1000;

type Options = { missed: MissedEvents; inboxes: MissedKept; maxMessages: number; maxDays: number; clock: Clock };

/**
 * Creates recovery with `since` (api.md, sections 3 and 2.4): messages of the user's current conversations, and edits and
 * recalls even of messages before `since`; and system messages that are kept in the user's inbox, and their recalls.
 */
export function createRecovery({ missed, inboxes, maxMessages, maxDays, clock }: Options) {
  type Range = { after: number; upTo: number; limit: number; maxBytes: number };

  /** The events of a range in order; the store shortens it only if it fills the limit or the bytes. */
  async function readRange({ org, uid, hasInboxes }: Absence, range: Range): Promise<MissedEvent[]> {
    const { after, upTo, limit, maxBytes } = range;
    const [events, kept] = await Promise.all([
      missed.readMissed(org, uid, after, upTo, limit, maxBytes),
      hasInboxes ? inboxes.readMissedKept(org, uid, { ...range, now: clock.now() }) : [],
    ]);
    if (kept.length === 0) return events;
    // Each may have ended early, so what lies beyond the end of one is read again later.
    const isCut = (part: MissedEvent[]) => part.length >= limit || bytesOf(part) >= maxBytes;
    const end = Math.min(...[events, kept].map((part) => (isCut(part) ? (part.at(-1)?.offset ?? upTo) : upTo)));
    return [...events, ...kept]
      .filter(({ offset }) => offset <= end)
      .sort((one, other) => one.offset - other.offset)
      .slice(0, limit);
  }

  return {
    /**
     * The offset after which the user missed events, or `undefined` if they cannot all be delivered: too many, too old,
     * or `since` unknown.
     */
    async resumeAfter({ org, uid, head, hasInboxes }: Absence, since: string): Promise<number | undefined> {
      const seen = await missed.findMessage(org, since);
      if (seen === undefined || clock.now() - seen.createdAt > maxDays * dayMs) return undefined;
      if (!Number.isFinite(maxMessages)) return seen.offset;
      const limit = maxMessages + 1;
      const count = await missed.countMissed(org, uid, seen.offset, head, limit);
      const range = { after: seen.offset, upTo: head, now: clock.now(), limit };
      const kept = hasInboxes ? await inboxes.countMissedKept(org, uid, range) : 0;
      return count + kept > maxMessages ? undefined : seen.offset;
    },
    /**
     * A page of the missed events after `after`, in order; empty at the end. A page ends with the event that brings
     * it to `maxBytes` or more. Lets the event loop turn before each read.
     */
    async read(absence: Absence, after: number, maxBytes: number): Promise<MissedEvent[]> {
      const { head } = absence;
      // To find the first messages of many conversations, the store sorts all candidates in the requested range. So the first
      // range is short, and ranges grow while they contain little: a page costs what it holds, however much is left.
      const page: MissedEvent[] = [];
      let room = maxBytes;
      let width = narrowest;
      // The store shortens a range's result only if it fills the room.
      for (let from = after; from < head && page.length < pageSize && room > 0; width *= growth) {
        await nextTurn();
        const upTo = Math.min(head, from + width);
        const range = { after: from, upTo, limit: pageSize - page.length, maxBytes: room };
        for (const event of await readRange(absence, range)) {
          page.push(event);
          room -= Buffer.byteLength(event.payload);
          if (room <= 0) break;
        }
        from = upTo;
      }
      return page;
    },
  };
}

function bytesOf(events: readonly MissedEvent[]): number {
  return events.reduce((sum, { payload }) => sum + Buffer.byteLength(payload), 0);
}
