import { nextTurn } from "../../lib/event-loop/next-turn.ts";
import type { Clock } from "../../lib/time/clock.ts";
import type { MissedMessage, MissedMessages } from "../../store/ports.ts";

/** Who was away, and up to where the log is to be caught up with. */
export type Absence = { org: string; uid: string; head: number };

/** Finds what a connection missed. */
export type CatchUp = {
  /** The offset after which the user missed messages, or `undefined` when they cannot all be given: too many, too old, or `since` unknown. */
  resumeAfter(absence: Absence, since: string): Promise<number | undefined>;
  /**
   * The missed messages after `after`, in order, a page at a time; empty when there are no more. A page ends with the message that
   * makes it `maxBytes` or larger. The event loop turns before it reads.
   */
  read(absence: Absence, after: number, maxBytes: number): Promise<MissedMessage[]>;
};

const pageSize = 50;
const narrowest = 2 * pageSize;
const growth = 4;
const dayMs = 24 * 3600 * 1000;

type Options = { missed: MissedMessages; maxMessages: number; maxDays: number; clock: Clock };

/** What `since` recovers (api.md, section 3): messages of conversations that the user is in now, never system messages. */
export function createCatchUp({ missed, maxMessages, maxDays, clock }: Options): CatchUp {
  return {
    async resumeAfter({ org, uid, head }, since) {
      const seen = await missed.findMessage(org, since);
      if (seen === undefined || clock.now() - seen.createdAt > maxDays * dayMs) return undefined;
      if (!Number.isFinite(maxMessages)) return seen.offset;
      const count = await missed.countMissed(org, uid, seen.offset, head, maxMessages + 1);
      return count > maxMessages ? undefined : seen.offset;
    },
    // To find the first messages of many conversations, the store sorts everything in the span that it is asked for. So the first
    // span is short, and spans grow while there is little in them: a page costs what it holds, however much is left.
    async read({ org, uid, head }, after, maxBytes) {
      const page: MissedMessage[] = [];
      let room = maxBytes;
      let width = narrowest;
      // The store cuts short only what fills the room.
      for (let from = after; from < head && page.length < pageSize && room > 0; width *= growth) {
        await nextTurn();
        const upTo = Math.min(head, from + width);
        for (const message of await missed.readMissed(org, uid, from, upTo, pageSize - page.length, room)) {
          page.push(message);
          room -= Buffer.byteLength(message.payload);
        }
        from = upTo;
      }
      return page;
    },
  };
}
