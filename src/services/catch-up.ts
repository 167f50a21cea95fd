import type { Clock } from "../lib/clock.ts";
import type { MissedMessage, MissedMessages } from "../store/ports.ts";

/** Who was away, and up to where the log is to be caught up with. */
export type Absence = { org: string; uid: string; head: number };

/** Finds what a connection missed. */
export type CatchUp = {
  /** The offset after which the user missed messages, or `undefined` when they cannot all be given: too many, too old, or `since` unknown. */
  resumeAfter(absence: Absence, since: string): Promise<number | undefined>;
  /** The missed messages after `after`, in order, a page at a time; empty when there are no more. */
  read(absence: Absence, after: number): Promise<MissedMessage[]>;
};

const pageSize = 50;
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
    read: ({ org, uid, head }, after) => missed.readMissed(org, uid, after, head, pageSize),
  };
}
