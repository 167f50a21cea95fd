import { nextTurn } from "../../lib/event-loop/next-turn.ts";
import { isObject, parseJson } from "../../lib/json/json-values.ts";
import type { Clock } from "../../lib/time/clock.ts";
import type { MissedKept } from "../../store/inbox/ports.ts";
import type { GrownMessage, HiddenReads, MissedEvent, MissedEvents } from "../../store/messages/ports.ts";

/** An absent user, the head up to which to catch up, and whether the organization keeps system messages in inboxes. */
export type Absence = { org: string; uid: string; head: number; hasInboxes: boolean };

/** Where to resume: the offset of the last message that the user has, and what of those up to it has grown since. */
export type Resumption = { offset: number; grown: readonly GrownMessage[] };

/** Finds what a connection missed. */
export type Recovery = ReturnType<typeof createRecovery>;

const pageSize = 50;
const narrowest = 2 * pageSize;
const growth = 4;
const dayMs = 24 * 3600 * 1000;

type Options = {
  missed: MissedEvents;
  inboxes: MissedKept;
  hidings: HiddenReads;
  maxMessages: number;
  maxDays: number;
  clock: Clock;
};

/**
 * Creates recovery with `since` (api.md, sections 3 and 2.4): messages of the user's current conversations, and edits and
 * recalls even of messages before `since`; and system messages that are kept in the user's inbox, and their recalls.
 */
export function createRecovery({ missed, inboxes, hidings, maxMessages, maxDays, clock }: Options) {
  type Range = { after: number; upTo: number; limit: number; maxBytes: number };
  /** The events of a range in order; the store shortens it only if it fills the limit or the bytes. */
  async function readRange({ org, uid, head, hasInboxes }: Absence, range: Range): Promise<MissedEvent[]> {
    const { after, upTo, limit, maxBytes } = range;
    const [events, kept] = await Promise.all([
      missed.readMissed(org, uid, after, upTo, limit, maxBytes, head),
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

  /** Blanks edits of messages that the user has hidden, and reactions to them. */
  async function withoutHidden({ org, uid }: Absence, page: MissedEvent[]): Promise<MissedEvent[]> {
    const changed = new Map(page.flatMap((event) => changedBy(event).map((id) => [event.offset, id] as const)));
    if (changed.size === 0) return page;
    const hidden = await hidings.hiddenAmong(org, uid, [...new Set(changed.values())]);
    if (hidden.size === 0) return page;
    return page.map((event) =>
      hidden.has(changed.get(event.offset) ?? "") ? { ...event, kind: "blank" as const, payload: "" } : event,
    );
  }

  return {
    /**
     * The place after which the user missed events, or `undefined` if they cannot all be delivered: too many, too old,
     * or `since` unknown.
     */
    async resumeAfter({ org, uid, head, hasInboxes }: Absence, since: string): Promise<Resumption | undefined> {
      const seen = await missed.findMessage(org, since);
      if (seen === undefined || clock.now() - seen.createdAt > maxDays * dayMs) return undefined;
      const { offset } = seen;
      if (!Number.isFinite(maxMessages)) return { offset, grown: await missed.findGrown(org, uid, offset) };
      const limit = maxMessages + 1;
      const [count, grown] = await Promise.all([
        missed.countMissed(org, uid, offset, head, limit),
        missed.findGrown(org, uid, offset),
      ]);
      const range = { after: offset, upTo: head, now: clock.now(), limit };
      const kept = hasInboxes ? await inboxes.countMissedKept(org, uid, range) : 0;
      return count + grown.length + kept > maxMessages ? undefined : { offset, grown };
    },
    /**
     * What messages that the user had at `since` have grown by up to the head: one piece for each, in no order. They come before
     * the pages, as nothing is done to a message before it is complete but to take it back.
     */
    readGrown: async ({ head }: Absence, { offset: since, grown }: Resumption): Promise<MissedEvent[]> =>
      grown.length === 0 ? [] : await missed.readGrown(grown, { since, head }),
    /**
     * A page of the missed events after `after`, in order, some of them `blank`; empty at the end. A page ends with the event that brings
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
      return await withoutHidden(absence, page);
    },
  };
}

/** The message that an edit or a reaction changes. */
function changedBy({ kind, payload }: MissedEvent): string[] {
  if (kind !== "edit" && kind !== "reaction") return [];
  const event = parseJson(payload);
  const [change] = isObject(event) ? Object.values(event) : [];
  const id = isObject(change) ? (change.id ?? change.mid) : undefined;
  return typeof id === "string" ? [id] : [];
}

function bytesOf(events: readonly MissedEvent[]): number {
  return events.reduce((sum, { payload }) => sum + Buffer.byteLength(payload), 0);
}
