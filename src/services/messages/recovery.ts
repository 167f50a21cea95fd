import { nextTurn } from "../../lib/event-loop/next-turn.ts";
import type { Clock } from "../../lib/time/clock.ts";
import type { MissedEvent, MissedEvents } from "../../store/messages/ports.ts";

/** An absent user, and the head up to which to catch up. */
export type Absence = { org: string; uid: string; head: number };

/** Finds what a connection missed. */
export type Recovery = ReturnType<typeof createRecovery>;

const pageSize = 50;
const narrowest = 2 * pageSize;
const growth = 4;
const dayMs = 24 * 3600 * 1000;

type Options = { missed: MissedEvents; maxMessages: number; maxDays: number; clock: Clock };

/**
 * Creates recovery with `since` (api.md, section 3): messages of the user's current conversations, and edits and
 * recalls even of messages before `since`; never system messages.
 */
export function createRecovery({ missed, maxMessages, maxDays, clock }: Options) {
  return {
    /**
     * The offset after which the user missed events, or `undefined` if they cannot all be delivered: too many, too old,
     * or `since` unknown.
     */
    async resumeAfter({ org, uid, head }: Absence, since: string): Promise<number | undefined> {
      const seen = await missed.findMessage(org, since);
      if (seen === undefined || clock.now() - seen.createdAt > maxDays * dayMs) return undefined;
      if (!Number.isFinite(maxMessages)) return seen.offset;
      const count = await missed.countMissed(org, uid, seen.offset, head, maxMessages + 1);
      return count > maxMessages ? undefined : seen.offset;
    },
    /**
     * A page of the missed events after `after`, in order; empty at the end. A page ends with the event that brings
     * it to `maxBytes` or more. Lets the event loop turn before each read.
     */
    async read({ org, uid, head }: Absence, after: number, maxBytes: number): Promise<MissedEvent[]> {
      // To find the first messages of many conversations, the store sorts all candidates in the requested range. So the first
      // range is short, and ranges grow while they contain little: a page costs what it holds, however much is left.
      const page: MissedEvent[] = [];
      let room = maxBytes;
      let width = narrowest;
      // The store shortens a range's result only if it fills the room.
      for (let from = after; from < head && page.length < pageSize && room > 0; width *= growth) {
        await nextTurn();
        const upTo = Math.min(head, from + width);
        for (const event of await missed.readMissed(org, uid, from, upTo, pageSize - page.length, room)) {
          page.push(event);
          room -= Buffer.byteLength(event.payload);
        }
        from = upTo;
      }
      return page;
    },
  };
}
