import type { Hint } from "../../bus/bus.ts";
import { unavailable } from "../../contract/errors/errors.ts";
import type { LogEvent, LogPage, LogPlace } from "../../contract/messages/log-event.ts";
import { createPace } from "../fanout/pace.ts";
import { type Budget, weightOf } from "./budget.ts";
import { logChain } from "./chain.ts";
import { createHeld } from "./held.ts";
import { createRing } from "./ring.ts";
import { createWaiters } from "./waiters.ts";

const maxReadyBytes = 4 * 1024 * 1024;
const repairDelayMs = 5;
const retryDelayMs = 250;
const pageSize = 200;
const mostVainDoubts = 6;

/** Plays the events of one organization in offset order, without holes, each once. */
export type Sequencer = {
  /** The offset of the event that was played last. */
  readonly position: number;
  /** It was stopped, or the log changed its past: nothing is played any more. */
  readonly isOver: boolean;
  /** A hint from the bus, in any order, any number of times. */
  offer(hint: Hint): void;
  /** Tells where the log ended when the store was asked, a moment ago; what is missing is read from it. */
  noticeHead(head: LogPlace): void;
  /**
   * Resolves once everything up to a place was played, and whatever was played beyond it still belongs to the log. Rejects with
   * `unavailable` when the place is not of this log, since that was set back, and when the sequencer is over.
   */
  reached(offset: number, id: string | undefined): Promise<void>;
  /**
   * Asks the store whether it still holds the log that is played, and resolves when it does: then what was read before this
   * call is of this log. Rejects as `reached` does.
   */
  verified(): Promise<void>;
  /** What was played after `offset`, or `undefined` when that was too long ago to be still at hand. */
  playedAfter(offset: number): LogEvent[] | undefined;
  /** Forgets what was played before a time, in milliseconds of `performance.now()`. */
  forgetBefore(time: number): void;
  stop(): void;
};

/** To how many connections an event was played, and whether one of them is slow to take it. */
export type Played = { connections: number; isSlow: boolean };

/** Where a log stopped being the one that was played: the place that was played, what stands there now, and the head. */
export type LogBreak = { played: LogPlace; found: string | undefined; head: LogPlace };

type Options = {
  /** Everything up to this place is over: the first event that is played follows it. */
  start: LogPlace;
  /** What it keeps in memory counts against this, which it shares with others. */
  budget: Budget;
  /** Reads the log from `offset`: what stands there, and about `limit` events after it. */
  read(offset: number, limit: number): Promise<LogPage>;
  /** Plays one event, at once. */
  play(event: LogEvent): Played;
  /** Called when a read brought what no hint had brought. */
  onRepair(): void;
  /** The log changed its past: what was played last is not what stands there. The sequencer is over; called once. */
  onBreak(found: LogBreak): void;
  onError(error: unknown): void;
};

/** What a sequencer is put together from. */
export const sequencerParts = { chain: logChain, createHeld, createPace };

/** Parts that a sequencer can be put together from. */
export type SequencerParts = typeof sequencerParts;

/**
 * The log is the truth and hints only make it fast. An event that follows the one played last, by its offset and by the id
 * that it names, is played; one beyond is held for a few milliseconds, then the hole is read from the store. Whatever does not
 * fit what was played is neither played nor dropped: the store is asked, and in each read the id of the event played last shows
 * whether this is still the same log. Offsets that the store no longer has were purged: since offsets are given in the order of
 * commits, nothing will ever appear there, so they are passed over.
 */
export function createSequencer(options: Options, parts: SequencerParts = sequencerParts): Sequencer {
  const { start, budget, read, play, onRepair, onBreak, onError } = options;
  const { follows, isSameLog } = parts.chain;
  const ring = createRing(start, budget);
  const held = parts.createHeld(budget);
  const waiters = createWaiters();
  let position = start.offset;
  let ready: LogEvent[] = [];
  let readyBytes = 0;
  let last: LogPlace = start; // the event that is played or made ready last
  let target = start.offset; // the highest offset that was heard of
  let toldMeanwhile = 0; // the same, since the current read began
  let isReading = false;
  let isInDoubt = false; // something did not fit what was played
  let isHinted = false; // it was no more than a hint that said so
  let vainDoubts = 0; // reads in a row that a hint asked for, and that brought nothing
  let isOver = false;
  let repairTimer: ReturnType<typeof setTimeout> | undefined;
  let hintTimer: ReturnType<typeof setTimeout> | undefined;
  const pace = parts.createPace(pump);

  function tell(offset: number): void {
    target = Math.max(target, offset);
    toldMeanwhile = Math.max(toldMeanwhile, offset);
  }

  function doubt(delayMs = repairDelayMs): void {
    isInDoubt = true;
    repairAfter(delayMs);
  }

  /** A hint does not fit what was played. Those that again and again do so in vain cost no more than three reads a second. */
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

  /** The id of an event that is played or ready, unless that was too long ago. */
  function idAt(offset: number): string | undefined {
    if (offset === last.offset) return last.id;
    return offset > position ? ready.find((event) => event.offset === offset)?.id : ring.idAt(offset);
  }

  /** Whether another event was played at its place. What the ring has let go of follows from what is known, by the ids of the chain. */
  function contradicts({ offset, id }: LogEvent): boolean {
    const known = idAt(offset);
    return known !== undefined && known !== id;
  }

  /** Makes the event ready, and what was held for when it came. */
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

  /** Whether more may be made ready. What finds no room is read from the store when its turn comes. */
  function hasRoom(): boolean {
    return ready.length === 0 || (readyBytes < maxReadyBytes && !budget.isSpent);
  }

  function playNow(event: LogEvent): Played {
    position = event.offset; // before all that may fail: nothing is ever played twice
    budget.giveBack(weightOf(event));
    ring.push(event);
    try {
      return play(event);
    } catch (error) {
      onError(error);
      return { connections: 0, isSlow: false };
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
      isInDoubt = true; // what was in doubt still is, and doubting the rest does no harm
      onError(error);
      repairAfter(retryDelayMs);
      return;
    }
    pump();
  }

  /** Takes in a page. What hints brought while it was read must agree with it. */
  function take(from: LogPlace, { head, anchor, events }: LogPage, limit: number): void {
    if (last === from && from.id === undefined) last = { offset: from.offset, id: anchor };
    const heardUpTo = last.offset;
    held.forgetBeyond(head.offset);
    for (const event of events) {
      if (event.offset > last.offset) {
        append(event); // and what was held that follows it
      } else if (contradicts(event)) {
        doubt();
        return;
      }
    }
    if (last.offset > heardUpTo) onRepair();
    else if (limit > 0 && events.length === 0 && last === from && ready.length === 0) passOver(head);
    if (held.forgetUpTo(last.offset).some(contradicts)) doubt();
    // Only what was heard of since the read began may lie beyond its head: what is higher and from before was of another log.
    target = Math.max(last.offset, head.offset, toldMeanwhile);
    waiters.endRead(head.offset);
  }

  /** There is nothing after what was played last: all up to the head was purged. */
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
    waiters.rejectAll(over());
  }

  return {
    get position() {
      return position;
    },
    get isOver() {
      return isOver;
    },
    offer(hint) {
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
    noticeHead(head) {
      if (isOver) return;
      tell(head.offset);
      if (head.offset < last.offset || (head.offset === last.offset && head.id !== last.id)) doubt();
      else if (target > last.offset && ready.length === 0) repairAfter(repairDelayMs);
    },
    async reached(offset, id) {
      if (isOver) throw over();
      if (offset > position) {
        tell(offset);
        const played = waiters.until(offset);
        if (target > last.offset && ready.length === 0) repairAfter(0);
        await played;
      }
      if (id !== undefined && idAt(offset) !== id) {
        const { head, anchor } = await read(offset, 0); // too long ago, or another log
        await verified();
        if (anchor === undefined ? head.offset < offset : anchor !== id) throw setBack();
      } else if (position > offset) {
        await verified(); // the place is still there, but what was played beyond it may be of a past that is gone
      }
    },
    verified,
    playedAfter: (offset) => ring.after(offset),
    forgetBefore: ring.forgetBefore,
    stop,
  };
}

/** What an event is on the wire, where a character may have up to four bytes. */
function bytesOf({ payload }: LogEvent): number {
  return Buffer.byteLength(payload);
}

function over(): Error {
  return unavailable({ detail: "the log of the organization is not played any more; connect again" });
}

function setBack(): Error {
  return unavailable({ detail: "the log of the organization was set back meanwhile; connect again" });
}
