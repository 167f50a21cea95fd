import type { LogEvent } from "../../../contract/log/log-event.ts";
import { logStart } from "../../../contract/log/log-place.ts";
import { createBudget } from "../budget.ts";
import { createSequencer, type LogBreak, type Sequencer } from "../sequencer.ts";

/** Creates an event of a log. Events after `from` belong to another history of the log and have other ids. */
export function event(offset: number, characters = 10, character = "x", from = Number.POSITIVE_INFINITY): LogEvent {
  const payload = character.repeat(characters);
  const idAt = (at: number) => (at === 0 ? "" : at > from ? `e${at} after ${from}` : `e${at}`);
  return {
    org: "o",
    offset,
    kind: "message",
    id: idAt(offset),
    prev: idAt(offset - 1),
    cid: "c",
    payload,
    uids: undefined,
  };
}

/** An event of the history that continued after `from`. */
export const after = (from: number, offset: number) => event(offset, 10, "x", from);

/** The place of an event. */
export const placeOf = ({ offset, id }: LogEvent) => (offset === 0 ? logStart : { offset, id });

type Setting = {
  position?: number;
  committed?: number;
  purgedUpTo?: number;
  budgetBytes?: number;
  play?: (event: LogEvent) => boolean;
  connections?: number;
};

/** Creates a fake store log and a sequencer on it. */
export function setUp({
  position = 0,
  committed = 0,
  purgedUpTo = 0,
  budgetBytes,
  play = () => false,
  connections = 1,
}: Setting = {}) {
  const log = {
    head: committed,
    setBackTo: Number.POSITIVE_INFINITY,
    purgedUpTo,
    reads: 0,
    repairs: 0,
    isBroken: false,
    /** Called when a read has its result but has not returned it. */
    onRead: () => {},
    /** Called when a read is requested, before it sees anything. */
    onAsk: () => {},
    at: (offset: number) => event(offset, 10, "x", log.setBackTo),
    /** Simulates a failover: everything after `to` is lost, and other events were written up to `head` since. */
    setBack(to: number, head: number) {
      log.setBackTo = to;
      log.head = head;
    },
  };
  const budget = createBudget(budgetBytes);
  const played: number[] = [];
  const errors: unknown[] = [];
  const breaks: LogBreak[] = [];
  const sequencer = createSequencer({
    start: placeOf(log.at(position)),
    budget,
    read: async (offset, limit) => {
      log.reads++;
      log.onAsk();
      if (log.isBroken) throw new Error("the store is away");
      const first = Math.max(offset, log.purgedUpTo) + 1;
      const count = Math.max(0, Math.min(limit, log.head - first + 1));
      const page = {
        head: placeOf(log.at(log.head)),
        anchor: offset > log.purgedUpTo && offset <= log.head ? log.at(offset).id : undefined,
        events: Array.from({ length: count }, (_, index) => log.at(first + index)),
      };
      log.onRead();
      return page;
    },
    play: (one) => {
      played.push(one.offset);
      return { isSlow: play(one), connections };
    },
    leave: () => undefined,
    onRepair: () => log.repairs++,
    onBreak: (found) => breaks.push(found),
    onError: (error) => errors.push(error),
  });
  return { sequencer, played, errors, breaks, budget, log };
}

/** The numbers from `from` to `offset`. */
export function upTo(offset: number, from = 1): number[] {
  return Array.from({ length: offset - from + 1 }, (_, index) => from + index);
}

/** Resolves once everything up to an offset is played. */
export async function settled(sequencer: Sequencer, offset: number): Promise<void> {
  await sequencer.reached(offset, undefined);
}
