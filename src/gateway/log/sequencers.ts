import type { Bus, Hint } from "../../bus/bus.ts";
import type { LogEvent } from "../../contract/log/log-event.ts";
import { type LogPage, type LogPlace, logStart } from "../../contract/log/log-place.ts";
import type { Clock } from "../../lib/time/clock.ts";
import type { Played } from "../fanout/played.ts";
import { createBudget, weightOf } from "./budget.ts";
import { createSequencer, type LogBreak, type Sequencer } from "./sequencer.ts";

const lingerMs = 10_000;
const maxEarly = 1_024;
const maxEarlyBytes = 4 * 1024 * 1024;
const keptMs = 30_000; // longer than a join takes; a slower one reads the store

/**
 * How far play is behind. `checkedAt` is in milliseconds since the Unix epoch, and `undefined` before the first check.
 */
export type Lag = { events: number; checkedAt: number | undefined };

/** The parts of the log store that the gateway reads. */
export type Log = {
  heads(orgs: string[]): Promise<Map<string, LogPlace>>;
  readFrom(org: string, offset: number, limit: number): Promise<LogPage>;
  readAfter(org: string, offset: number, limit: number, maxBytes: number): Promise<LogEvent[]>;
};

/** The log with what feeds read of it. */
export type FeedLog = Log & {
  readShown(org: string, offset: number, limit: number, maxBytes: number): Promise<LogEvent[]>;
};

type Options = {
  bus: Pick<Bus, "subscribe">;
  log: Log;
  clock: Clock;
  play(event: LogEvent): Played;
  /** Ends a turn of an organization. Returns a promise if its next one must wait. */
  leave(org: string): Promise<boolean> | undefined;
  /** Called when a read of the store brought events the bus had not. */
  onRepair(): void;
  /** Called when an organization's log is no longer the one that was played: its connections must rejoin. */
  onBreak(org: string, found: LogBreak): void;
  onError(error: unknown): void;
};

type Entry = {
  org: string;
  users: number;
  started: Promise<Sequencer>;
  /** Defined once it has started. */
  sequencer(): Sequencer | undefined;
  end(): void;
  lingerTimer: ReturnType<typeof setTimeout> | undefined;
};

/**
 * Creates the sequencers of a node. Subscribes on the bus for an organization's first connection, and unsubscribes some
 * time after its last one has gone.
 */
export function createSequencers(options: Options, createOne = createSequencer) {
  const { bus, log, clock, play, leave, onRepair, onBreak, onError } = options;
  const entries = new Map<string, Entry>();
  let held = 0;
  const entryOf = new WeakMap<Sequencer, Entry>();
  const budget = createBudget();
  let lag: Lag = { events: 0, checkedAt: undefined };

  function begin(org: string): Entry {
    const early: Hint[] = [];
    let earlyBytes = 0;
    let lastEarly = 0; // the highest offset of hints that found no room; the store is read up to it
    let sequencer: Sequencer | undefined;
    let unsubscribe: (() => void) | undefined;
    let isOver = false;

    function keepEarly(hint: Hint): void {
      if (early.length >= maxEarly || earlyBytes >= maxEarlyBytes) {
        lastEarly = Math.max(lastEarly, hint.offset ?? 0);
        return;
      }
      early.push(hint);
      earlyBytes += hint.payload === undefined ? 0 : weightOf(hint);
    }

    async function start(): Promise<Sequencer> {
      // Subscribes before reading the head: hints that arrive in between are kept, and dropped if the head covers them.
      unsubscribe = await bus.subscribe(org, (hint) => {
        if (sequencer !== undefined) sequencer.offer(hint);
        else keepEarly(hint);
      });
      const head = (await log.heads([org])).get(org) ?? logStart;
      sequencer = createOne({
        start: head,
        budget,
        read: (offset, limit) => log.readFrom(org, offset, limit),
        play,
        leave: () => leave(org),
        onRepair,
        onBreak(found) {
          remove(org, entry);
          onBreak(org, found);
        },
        onError,
      });
      entryOf.set(sequencer, entry);
      for (const hint of early.splice(0)) sequencer.offer(hint);
      if (lastEarly > 0) sequencer.offer({ org, offset: lastEarly });
      if (isOver) entry.end();
      return sequencer;
    }

    const entry: Entry = {
      org,
      users: 0,
      started: start(),
      sequencer: () => sequencer,
      end() {
        isOver = true;
        clearTimeout(entry.lingerTimer);
        unsubscribe?.();
        sequencer?.stop();
      },
      lingerTimer: undefined,
    };
    entries.set(org, entry);
    return entry;
  }

  function remove(org: string, entry: Entry): void {
    if (entries.get(org) === entry) entries.delete(org);
    entry.end();
  }

  function forget(org: string, entry: Entry): void {
    if (entry.users === 0) remove(org, entry);
  }

  return {
    /**
     * Returns the organization's sequencer, creating it if necessary, or again after the log was rewritten. Release it
     * exactly once.
     */
    async acquire(org: string): Promise<Sequencer> {
      const entry = entries.get(org) ?? begin(org);
      entry.users++;
      held++;
      clearTimeout(entry.lingerTimer);
      try {
        return await entry.started;
      } catch (error) {
        entry.users--;
        held--;
        forget(org, entry);
        throw error;
      }
    },
    /** The organization's sequencer, if this node has one that plays. */
    of: (org: string): Sequencer | undefined => entries.get(org)?.sequencer(),
    release(sequencer: Sequencer): void {
      held--;
      const entry = entryOf.get(sequencer);
      if (entry === undefined) return;
      entry.users--;
      if (entry.users === 0) entry.lingerTimer = setTimeout(() => forget(entry.org, entry), lingerMs);
    },
    /** Compares every position with the store's heads in one query. Called every few seconds and when the bus is back. */
    async checkHeads(): Promise<void> {
      for (const { sequencer } of entries.values()) sequencer()?.forgetBefore(performance.now() - keptMs);
      const asked = [...entries]; // a sequencer that starts during the read starts at its own head
      const heads = asked.length === 0 ? new Map<string, LogPlace>() : await log.heads(asked.map(([org]) => org));
      const checked = { events: 0, checkedAt: clock.now() };
      lag = checked;
      for (const [org, entry] of asked) {
        const head = heads.get(org) ?? logStart; // the organization itself may be lost
        const notice = (sequencer: Sequencer) => {
          checked.events = Math.max(checked.events, head.offset - sequencer.position);
          sequencer.noticeHead(head);
        };
        // Not awaited: a start that hangs or fails is reported to whoever acquires it, and must not delay the others.
        entry.started.then(notice).catch(() => undefined);
      }
    },
    /** Resolves once everything committed so far is played. */
    async playToHeads(): Promise<void> {
      if (entries.size === 0) return;
      const heads = await log.heads([...entries.keys()]);
      await Promise.all(
        [...heads].map(async ([org, { offset, id }]) => (await entries.get(org)?.started)?.reached(offset, id)),
      );
    },
    /** The lag at the last head check: how many events the organization furthest behind lacked, and when that was. */
    get lag(): Lag {
      return lag;
    },
    /** The number of acquisitions not yet released. */
    get held(): number {
      return held;
    },
    stop(): void {
      for (const entry of entries.values()) entry.end();
      entries.clear();
    },
  };
}

/** The sequencers of this node: one per organization with connections here. */
export type Sequencers = ReturnType<typeof createSequencers>;
