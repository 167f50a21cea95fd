import type { Bus, Hint } from "../bus/bus.ts";
import type { LogEvent } from "../contract/log-event.ts";
import type { Clock } from "../lib/clock.ts";
import { createSequencer, type Sequencer } from "./sequencer.ts";

const lingerMs = 10_000;

/** The sequencers of this node: one for each organization that has connections here. */
export type Sequencers = {
  /** The organization's sequencer, begun if need be. Give it back with `release`, once. */
  acquire(org: string): Promise<Sequencer>;
  release(org: string): void;
  /** Compares every position with the store, in one query. Called every few seconds and when the bus came back. */
  checkHeads(): Promise<void>;
  /** Resolves when everything was played that is committed now. */
  playToHeads(): Promise<void>;
  /** How many events the organization that was the most behind lacked when the heads were last compared, and when that was. */
  readonly lag: Lag;
  /** How often one was acquired and not given back. */
  readonly held: number;
  stop(): void;
};

/** `checkedAt` in milliseconds, `undefined` before the first check. */
export type Lag = { events: number; checkedAt: number | undefined };

/** What the gateway reads of the logs. */
export type Log = {
  heads(orgs: string[]): Promise<Map<string, number>>;
  readAfter(org: string, offset: number, limit: number): Promise<LogEvent[]>;
};

type Options = {
  bus: Pick<Bus, "subscribe">;
  log: Log;
  clock: Clock;
  play(event: LogEvent): boolean;
  /** Called when a read of the store brought what the bus had not. */
  onRepair(): void;
  onError(error: unknown): void;
};

type Entry = {
  users: number;
  started: Promise<Sequencer>;
  end(): void;
  lingerTimer: ReturnType<typeof setTimeout> | undefined;
};

/** Joins the bus with an organization's first connection, and leaves it a while after the last one has gone. */
export function createSequencers({ bus, log, clock, play, onRepair, onError }: Options): Sequencers {
  const entries = new Map<string, Entry>();
  let held = 0;
  let lag: Lag = { events: 0, checkedAt: undefined };

  function begin(org: string): Entry {
    const early: Hint[] = [];
    let sequencer: Sequencer | undefined;
    let unsubscribe: (() => void) | undefined;
    let isOver = false;

    async function start(): Promise<Sequencer> {
      // The subscription comes before the position: what is committed in between is heard, and dropped if it is in the head.
      unsubscribe = await bus.subscribe(org, (hint) => {
        if (sequencer === undefined) early.push(hint);
        else take(sequencer, hint);
      });
      const position = (await log.heads([org])).get(org) ?? 0;
      sequencer = createSequencer({
        position,
        read: (offset, limit) => log.readAfter(org, offset, limit),
        play,
        onRepair,
        onError,
      });
      for (const hint of early.splice(0)) take(sequencer, hint);
      if (isOver) entry.end();
      return sequencer;
    }

    const entry: Entry = {
      users: 0,
      started: start(),
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

  function forget(org: string, entry: Entry): void {
    if (entry.users > 0 || entries.get(org) !== entry) return;
    entries.delete(org);
    entry.end();
  }

  return {
    async acquire(org) {
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
    release(org) {
      held--;
      const entry = entries.get(org);
      if (entry === undefined) return;
      entry.users--;
      if (entry.users === 0) entry.lingerTimer = setTimeout(() => forget(org, entry), lingerMs);
    },
    async checkHeads() {
      const heads = entries.size === 0 ? new Map<string, number>() : await log.heads([...entries.keys()]);
      const checked = { events: 0, checkedAt: clock.now() };
      lag = checked;
      for (const [org, entry] of entries) {
        const head = heads.get(org);
        if (head === undefined) continue;
        const notice = (sequencer: Sequencer) => {
          checked.events = Math.max(checked.events, head - sequencer.position);
          sequencer.noticeHead(head);
        };
        // Not awaited: whoever acquires it hears of a start that hangs or fails, and the others must not wait for it.
        entry.started.then(notice).catch(() => undefined);
      }
    },
    async playToHeads() {
      if (entries.size === 0) return;
      const heads = await log.heads([...entries.keys()]);
      await Promise.all([...heads].map(async ([org, head]) => (await entries.get(org)?.started)?.reached(head)));
    },
    get lag() {
      return lag;
    },
    get held() {
      return held;
    },
    stop() {
      for (const entry of entries.values()) entry.end();
      entries.clear();
    },
  };
}

function take(sequencer: Sequencer, hint: Hint): void {
  if (hint.payload === undefined) sequencer.noticeHead(hint.offset);
  else sequencer.offer(hint);
}
