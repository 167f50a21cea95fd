import type { Hint } from "../../bus/bus.ts";
import { unavailable } from "../../contract/errors/errors.ts";
import type { LogEvent } from "../../contract/log/log-event.ts";
import type { LogPage, LogPlace } from "../../contract/log/log-place.ts";
import { recalledIn } from "../fanout/event-facts.ts";
import type { Leave } from "../fanout/pace.ts";
import { createPace } from "../fanout/pace.ts";
import { type Played, toNobody } from "../fanout/played.ts";
import { type Budget, weightOf } from "./budget.ts";
import { logChain } from "./chain.ts";
import { createHeld } from "./held.ts";
import { createRecalled } from "./recalled.ts";
import { createRing } from "./ring.ts";
import { createWaiters } from "./waiters.ts";

const maxReadyBytes = 4 * 1024 * 1024;
const repairDelayMs = 5;
const retryDelayMs = 250;
const pageSize = 200;
const mostVainDoubts = 6;

/** Where a log stopped being the one that was played: the place played, the id found there now, and the head. */
export type LogBreak = { played: LogPlace; found: string | undefined; head: LogPlace };

type Options = {
  /** The place after which play begins. */
  start: LogPlace;
  /** The memory budget, shared with other sequencers. */
  budget: Budget;
  /** Reads the log at `offset`: the event id that stands there, and about `limit` events after it. */
  read(offset: number, limit: number): Promise<LogPage>;
  /** Plays one event synchronously. */
  play(event: LogEvent): Played;
  leave: Leave;
  /** Called when a read brought events that no hint had. */
  onRepair(): void;
  /**
   * Called once if the log was rewritten: the event played last is no longer the one at its offset. The sequencer is
   * over.
   */
  onBreak(found: LogBreak): void;
  onError(error: unknown): void;
};

/** The parts a sequencer is built from. */
export const sequencerParts = { chain: logChain, createHeld, createPace, createRing, createRecalled };

/** The type of `sequencerParts`, for tests that replace some of them. */
export type SequencerParts = typeof sequencerParts;

/**
 * Creates a sequencer. The log is the truth; hints only make it fast. An event that follows the one played last, by its
 * offset and by its predecessor's id, is played. An event further ahead is held for a few milliseconds, then the gap is
 * read from the store. An event that contradicts what was played is neither played nor dropped: the store is asked, and
 * each read shows by the id of the event played last whether it is still the same log. Offsets missing from the store
 * were purged: offsets are given in commit order, so nothing can appear there later, and they are skipped.
 */
export function createSequencer(options: Options, parts: SequencerParts = sequencerParts) {
  const { start, budget, read, play, leave, onRepair, onBreak, onError } = options;
  const { follows, isSameLog } = parts.chain;
  const ring = parts.createRing(start, budget);
  const held = parts.createHeld(budget);
  const recalled = parts.createRecalled();
  const waiters = createWaiters();
  let position = start.offset;
  let ready: LogEvent[] = [];
  let readyBytes = 0;
  let last: LogPlace = start; // the event played or queued last
  let target = start.offset; // the highest offset reported
  let toldMeanwhile = 0; // the highest offset reported since the current read began
  let isReading = false;
  let isInDoubt = false; // something did not fit what was played
  let isHinted = false; // the doubt comes from a hint only
  let vainDoubts = 0; // consecutive reads that a hint caused and that brought nothing
  let isOver = false;
  let repairTimer: ReturnType<typeof setTimeout> | undefined;
  let hintTimer: ReturnType<typeof setTimeout> | undefined;
  const pace = parts.createPace(pump, leave);

  function tell(offset: number): void {
    target = Math.max(target, offset);
    toldMeanwhile = Math.max(toldMeanwhile, offset);
  }

  function doubt(delayMs = repairDelayMs): void {
    isInDoubt = true;
    repairAfter(delayMs);
  }

  /** Reacts to a hint that does not fit what was played. Repeated false alarms cost at most three reads a second. */
  function doubtHint(): void {
    if (hintTimer !== undefined || isInDoubt) return;
    hintTimer = setTimeout(
      () => {
        hintTimer = undefined;
        isHinted = true;
        doubt(0);
      },
      repairDelayMs * 2 ** vainDoubts,
    );
  }

  /** The id of a played or queued event, unless it is too long ago. */
  function idAt(offset: number): string | undefined {
    if (offset === last.offset) return last.id;
    return offset > position ? ready.find((event) => event.offset === offset)?.id : ring.idAt(offset);
  }

  /**
   * Whether a different event was played at this offset. Events that the ring has dropped are covered by the chain of
   * ids.
   */
  function contradicts({ offset, id }: LogEvent): boolean {
    const known = idAt(offset);
    return known !== undefined && known !== id;
  }

  /** Queues the event, and held events that follow it. */
  function append(event: LogEvent): void {
    let next: LogEvent | undefined = event;
    while (next !== undefined) {
      ready.push(next);
      readyBytes += bytesOf(next);
      budget.hold(weightOf(next));
      last = { offset: next.offset, id: next.id };
      next = hasRoom() ? held.takeNext(last) : undefined;
    }
  }

  /** Whether more may be queued. Events that find no room are read from the store when their turn comes. */
  function hasRoom(): boolean {
    return ready.length === 0 || (readyBytes < maxReadyBytes && !budget.isSpent);
  }

  function playNow(event: LogEvent): Played {
    position = event.offset; // before anything that may throw, so that nothing is played twice
    budget.giveBack(weightOf(event));
    ring.push(event);
    recalled.note(recalledIn(event) ?? []);
    try {
      return play(event);
    } catch (error) {
      onError(error);
      return toNobody;
    }
  }

  function pump(): void {
    if (isOver) return;
    let count = 0;
    for (let event = ready[0]; event !== undefined; event = ready[count]) {
      const bytes = bytesOf(event);
      if (!pace.allows(bytes)) break;
      pace.note(bytes, playNow(event));
      readyBytes -= bytes;
      count++;
    }
    if (count > 0) ready = ready.slice(count);
    waiters.resolveUpTo(position);
    if (isInDoubt || (ready.length === 0 && target > last.offset)) repairAfter(repairDelayMs);
  }

  function repairAfter(delayMs: number): void {
    if (repairTimer !== undefined || isReading || isOver) return;
    repairTimer = setTimeout(() => {
      repairTimer = undefined;
      repair().catch(onError);
    }, delayMs);
  }

  async function repair(): Promise<void> {
    const limit = hasRoom() ? pageSize : 0;
    if (isOver || isReading || !(isInDoubt || (target > last.offset && limit > 0))) return;
    const from = last;
    const isProvoked = isHinted;
    isReading = true;
    isInDoubt = false;
    isHinted = false;
    toldMeanwhile = 0;
    held.beginRead();
    waiters.beginRead();
    try {
      const page = await read(from.offset, limit);
      isReading = false;
      if (isOver) return;
      if (!isSameLog(from, page)) return breakOff(from, page);
      if (page.events.length > 0) vainDoubts = 0;
      else if (isProvoked) vainDoubts = Math.min(vainDoubts + 1, mostVainDoubts);
      take(from, page, limit);
    } catch (error) {
      isReading = false;
      isInDoubt = true; // the doubt remains, and a needless doubt does no harm
      onError(error);
      repairAfter(retryDelayMs);
      return;
    }
    pump();
  }

  /** Takes in a page. Events that hints brought during the read must agree with it. */
  function take(from: LogPlace, { head, anchor, events }: LogPage, limit: number): void {
    if (last === from && from.id === undefined) last = { offset: from.offset, id: anchor };
    const heardUpTo = last.offset;
    held.forgetBeyond(head.offset);
    for (const event of events) {
      if (event.offset > last.offset) {
        append(event); // appends held events that follow, too
      } else if (contradicts(event)) {
        doubt();
        return;
      }
    }
    if (last.offset > heardUpTo) onRepair();
    else if (limit > 0 && events.length === 0 && last === from && ready.length === 0) passOver(head);
    if (held.forgetUpTo(last.offset).some(contradicts)) doubt();
    // Only offsets reported since the read began may lie beyond its head: higher ones from before belong to another
    // log.
    target = Math.max(last.offset, head.offset, toldMeanwhile);
    waiters.endRead(head.offset);
  }

  /** Nothing follows the event played last: everything up to the head was purged. */
  function passOver(head: LogPlace): void {
    if (head.offset <= last.offset) return;
    last = head;
    position = head.offset;
  }

  function breakOff(played: LogPlace, { anchor, head }: LogPage): void {
    stop();
    onBreak({ played, found: anchor ?? (head.offset === played.offset ? head.id : undefined), head });
  }

  async function verified(): Promise<void> {
    if (isOver) throw over();
    const read = waiters.untilRead();
    doubt(0);
    await read;
  }

  function stop(): void {
    isOver = true;
    clearTimeout(repairTimer);
    clearTimeout(hintTimer);
    for (const event of ready) budget.giveBack(weightOf(event));
    ready = [];
    held.forgetUpTo(Number.POSITIVE_INFINITY);
    ring.clear();
    recalled.clear(); // as the log may have lost them
    waiters.rejectAll(over());
  }

  return {
    /** The offset of the event played last. */
    get position(): number {
      return position;
    },
    /** True once it was stopped or the log was rewritten: it plays nothing any more. */
    get isOver(): boolean {
      return isOver;
    },
    /** Takes a hint from the bus; hints may come in any order, any number of times. */
    offer(hint: Hint) {
      if (isOver) return;
      if (hint.offset === undefined) return doubtHint();
      const { offset, id } = hint;
      if (offset <= last.offset) {
        if (id === undefined || idAt(offset) !== id) doubtHint();
        return;
      }
      tell(offset);
      const isNext = follows(hint, last);
      if (hint.payload !== undefined && isNext && hasRoom()) {
        append(hint);
        pump();
        return;
      }
      if (hint.payload !== undefined && (isNext || offset > last.offset + 1)) held.add(hint);
      if (ready.length === 0) repairAfter(repairDelayMs);
    },
    /** Takes the head that the store reported a moment ago; missing events are then read from the store. */
    noticeHead(head: LogPlace): void {
      if (isOver) return;
      tell(head.offset);
      if (head.offset < last.offset || (head.offset === last.offset && head.id !== last.id)) doubt();
      else if (target > last.offset && ready.length === 0) repairAfter(repairDelayMs);
    },
    /**
     * Resolves once everything up to a place is played and everything played beyond it still belongs to the log. Rejects
     * with `unavailable` if the log was set back and the place is not in it, or if the sequencer is over.
     */
    async reached(offset: number, id: string | undefined): Promise<void> {
      if (isOver) throw over();
      if (offset > position) {
        tell(offset);
        const played = waiters.until(offset);
        if (target > last.offset && ready.length === 0) repairAfter(0);
        await played;
      }
      if (id !== undefined && idAt(offset) !== id) {
        const { head, anchor } = await read(offset, 0); // too long ago, or from another log
        await verified();
        if (anchor === undefined ? head.offset < offset : anchor !== id)
          throw unavailable({ detail: "the organization's log was rolled back in the meantime; reconnect" });
      } else if (position > offset) {
        await verified(); // the place still exists, but events played beyond it may have been lost
      }
    },
    /**
     * Resolves once the store confirms that it still holds the log being played, so that anything read before this call
     * is of this log. Rejects like `reached`.
     */
    verified,
    /** The events played after `offset`, or `undefined` if that is too long ago. */
    playedAfter: (offset: number): LogEvent[] | undefined => ring.after(offset),
    /** Whether a recall of this text was played lately: then it must not be written any more. */
    hasRecalled: recalled.has,
    /** Drops what was played before a time, in milliseconds of `performance.now()`. */
    forgetBefore(time: number): void {
      ring.forgetBefore(time);
      recalled.forgetBefore(time);
    },
    stop,
  };
}

/** Plays the events of one organization in offset order, without holes, each once. */
export type Sequencer = ReturnType<typeof createSequencer>;

/** The size of an event on the wire; a character takes up to four bytes. */
function bytesOf({ payload }: LogEvent): number {
  return Buffer.byteLength(payload);
}

function over(): Error {
  return unavailable({ detail: "this node no longer follows the organization's log; reconnect" });
}
