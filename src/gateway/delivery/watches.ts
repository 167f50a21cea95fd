import type { DeliveryNews, WatchQuestion } from "../../bus/bus.ts";
import type { Guard } from "../../lib/observing/guard.ts";
import { gatherMs } from "../../lib/queues/steps.ts";
import { createSetsByKey } from "../../lib/sets-by-key.ts";
import { joinIds } from "../../lib/text/ids.ts";
import type { TimerWheel } from "../../lib/time/timer-wheel.ts";
import type { Connection } from "../connections/connection.ts";
import type { Roster } from "../connections/roster.ts";
import type { Play } from "../fanout/player.ts";
import type { Audience } from "./audience.ts";
import type { DeliveryLedger, PlayedEvent } from "./delivery-ledger.ts";

/** A connection, by identity. */
type Listener = Pick<Connection, "org" | "uid">;

type Dependencies = {
  roster: Pick<Roster, "totalOf"> & { ofAll(org: string, uids: Iterable<string>): Iterable<Listener> };
  wheel: Pick<TimerWheel, "after">;
  guard: Guard;
  /** The most events watched at a time, and the most users and connections remembered for them. */
  most?: { watches: number; weight: number };
};

/**
 * The users that an event was written to. Nobody changes it, as the listeners of an audience are one object for all events until
 * somebody joins or leaves (`areOfAudience`), and count no more than one user.
 */
type Listeners = {
  readonly uids: readonly string[];
  readonly set: ReadonlySet<string>;
  readonly areOfAudience: boolean;
};

type Watch = {
  readonly question: WatchQuestion;
  tell(news: DeliveryNews): void;
  cancelTimer(): void;
  /** The users it was played to; `undefined` before it is played. */
  heardBy: ReadonlySet<string> | undefined;
  /** The connections that have not acknowledged it yet. */
  readonly awaited: Set<Listener>;
  readonly acknowledged: Set<string>;
  /** Acknowledgements not reported yet. */
  untold: string[];
  tellTimer: ReturnType<typeof setTimeout> | undefined;
  weight: number;
};

const defaultMost = { watches: 65_536, weight: 1_000_000 };
const longestMs = 60_000;
const nothing = { online: [], missed: [], acknowledged: [], isPlayed: false, isDone: false };

/**
 * Creates the watches of a node. An event that nobody awaits costs one look-up, and nothing while there are no watches; a
 * watched one costs a small part of its fan-out. Acknowledgements are reported together, some milliseconds late.
 */
export function createWatches({ roster, wheel, guard, most = defaultMost }: Dependencies) {
  const watches = new Map<string, Watch>();
  const byEvent = new Map<string, Watch>();
  const byAck = createSetsByKey<string, Watch>();
  const byAwaited = createSetsByKey<Listener, Watch>();
  const acknowledging = new WeakSet<Listener>();
  const byAudience = new WeakMap<Audience, { changes: number; listeners: Listeners }>();
  let weight = 0;
  /** The watched event being played, its listeners so far, and the connections that were cut by it. */
  let playing: { watch: Watch; listeners: Listeners | undefined; cut: Set<string> } | undefined;

  function stopAwaiting(watch: Watch, connection: Listener): void {
    watch.awaited.delete(connection);
    byAwaited.remove(connection, watch);
  }

  function end(id: string): void {
    const watch = watches.get(id);
    if (watch === undefined) return;
    if (watch.untold.length > 0) guard(() => tell(watch));
    watches.delete(id);
    const { org, event, ack } = watch.question;
    byEvent.delete(joinIds(org, event));
    byAck.remove(joinIds(org, ack), watch);
    for (const connection of watch.awaited) stopAwaiting(watch, connection);
    weight -= watch.weight;
    watch.cancelTimer();
    clearTimeout(watch.tellTimer);
  }

  function tell(watch: Watch, news: Partial<DeliveryNews> = {}): void {
    clearTimeout(watch.tellTimer);
    watch.tellTimer = undefined;
    const acknowledged = watch.untold;
    watch.untold = [];
    watch.tell({ ...nothing, ...news, acknowledged, isPlayed: true, isDone: watch.awaited.size === 0 });
  }

  /** Reports at once if nothing else is awaited. */
  function tellSoon(watch: Watch): void {
    if (watch.awaited.size === 0) tell(watch);
    else watch.tellTimer ??= setTimeout(() => guard(() => tell(watch)), gatherMs);
  }

  function listenersIn(audience: Audience): Listeners {
    const known = byAudience.get(audience);
    if (known?.changes === audience.changes) return known.listeners;
    const listeners = listenersOf([...audience.uids()], true);
    byAudience.set(audience, { changes: audience.changes, listeners });
    return listeners;
  }

  function hear(event: PlayedEvent, listeners: () => Listeners): void {
    if (playing === undefined || playing.watch.question.event !== event.id) return;
    const { listeners: before } = playing;
    const now = listeners();
    playing.listeners = before === undefined ? now : listenersOf([...before.set.union(now.set)]);
  }

  function endPlay({ watch, listeners = listenersOf([]), cut }: NonNullable<typeof playing>): void {
    const missed = [...cut].filter((uid) => !listeners.set.has(uid));
    for (const connection of roster.ofAll(watch.question.org, listeners.uids)) {
      if (!acknowledging.has(connection)) continue;
      watch.awaited.add(connection);
      byAwaited.add(connection, watch);
    }
    watch.heardBy = listeners.set;
    watch.weight = watch.awaited.size + (listeners.areOfAudience ? 1 : listeners.uids.length);
    weight += watch.weight;
    tell(watch, { online: missed.length === 0 ? listeners.uids : [...listeners.uids, ...missed], missed });
  }

  return {
    begin(id: string, question: WatchQuestion, tellNews: (news: DeliveryNews) => void) {
      const { org, event, ack, forMs } = question;
      const isFull = watches.size >= most.watches || weight >= most.weight;
      if (isFull || watches.has(id) || byEvent.has(joinIds(org, event))) return;
      if (roster.totalOf(org).connections === 0) return tellNews({ ...nothing, isDone: true });
      const watch: Watch = {
        question,
        tell: tellNews,
        cancelTimer: wheel.after(Math.min(forMs, longestMs), () => end(id)),
        heardBy: undefined,
        awaited: new Set(),
        acknowledged: new Set(),
        untold: [],
        tellTimer: undefined,
        weight: 0,
      };
      watches.set(id, watch);
      byEvent.set(joinIds(org, event), watch);
      byAck.add(joinIds(org, ack), watch);
      tellNews(nothing);
    },
    end,
    /** Wraps the play of events, to note which connections a watched one cuts. */
    during:
      (play: Play): Play =>
      (event) => {
        const watch = byEvent.size === 0 ? undefined : byEvent.get(joinIds(event.org, event.id));
        if (watch === undefined || watch.heardBy !== undefined) return play(event);
        const played = { watch, listeners: undefined, cut: new Set<string>() };
        playing = played;
        try {
          return play(event);
        } finally {
          playing = undefined;
          guard(() => endPlay(played));
        }
      },
    /** Wraps the ledger, to note whom a watched event is written to. */
    following: (ledger: DeliveryLedger): DeliveryLedger => ({
      ...ledger,
      played(event, audience) {
        ledger.played(event, audience);
        guard(() => hear(event, () => listenersIn(audience)));
      },
      playedTo(event, uids, connections, away) {
        ledger.playedTo(event, uids, connections, away);
        guard(() => hear(event, () => listenersOf(uids)));
      },
    }),
    /** Notes that a connection is gone, and awaits it no longer. */
    left(connection: Listener): void {
      if (playing?.watch.question.org === connection.org) playing.cut.add(connection.uid);
      for (const watch of byAwaited.of(connection) ?? []) {
        stopAwaiting(watch, connection);
        if (watch.awaited.size === 0) guard(() => tell(watch));
      }
    },
    /** Notes receipts of a connection, which counts from now on as one that acknowledges. */
    acknowledged(connection: Listener, ids: readonly string[]): void {
      acknowledging.add(connection);
      if (byAck.size === 0) return;
      const { org, uid } = connection;
      for (const watch of ids.flatMap((id) => [...(byAck.of(joinIds(org, id)) ?? [])])) {
        const isNews = watch.heardBy?.has(uid) === true && !watch.acknowledged.has(uid);
        const isAwaited = watch.awaited.has(connection);
        if (isNews) {
          watch.acknowledged.add(uid);
          watch.untold.push(uid);
        }
        if (isAwaited) stopAwaiting(watch, connection);
        if (isNews || (isAwaited && watch.awaited.size === 0)) guard(() => tellSoon(watch));
      }
    },
    /** The number of watched events. */
    get size(): number {
      return watches.size;
    },
  };
}

function listenersOf(uids: readonly string[], areOfAudience = false): Listeners {
  return { uids, set: new Set(uids), areOfAudience };
}
