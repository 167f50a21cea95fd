import { HeraldError } from "../../contract/errors/errors.ts";
import type { DeliveryBounds, NewAudience, NewDelivery, Play } from "../../contract/log/deliveries.ts";
import type { LogEvent } from "../../contract/log/log-event.ts";
import { rowsOfStatement } from "../../lib/queues/steps.ts";
import { createId, joinIds, timeOfId } from "../../lib/text/ids.ts";
import type { Clock } from "../../lib/time/clock.ts";
import type { Audience, AudienceVersion } from "./audience.ts";
import { createHearers, type Hearers } from "./hearers.ts";
import { groupInSpans } from "./spans.ts";

/** The fields of an event that the ledger needs. */
export type PlayedEvent = Pick<LogEvent, "org" | "offset" | "id" | "cid">;

/** Records which users this node delivered events to. Nothing waits for it, and each call takes only a moment. */
export type DeliveryLedger = {
  /** The event was written to the connections of this audience. */
  played(event: PlayedEvent, audience: Audience): void;
  /** The event was written to this many connections of these users; those of them in `away` have inactive connections only. */
  playedTo(event: PlayedEvent, uids: string[], connections: number, away?: string[]): void;
  /** Each event was written to one connection of this user. */
  given(uid: string, events: readonly PlayedEvent[]): void;
  /** The store may have lost its last commits: from now on, rows no longer refer to audiences stored before. */
  renew(): void;
  /** Stores what was recorded. Rejects while the store is away: what fits is kept and stored with the next flush. */
  flush(): Promise<void>;
};

/** Where the ledger stores what it recorded. */
export type DeliveryStore = {
  readonly bounds: DeliveryBounds;
  /**
   * Audiences precede their children and the deliveries that refer to them. Existing rows are kept. Rejects with a
   * `HeraldError` if the same batch may be stored later.
   */
  record(batch: { audiences: NewAudience[]; deliveries: NewDelivery[] }): Promise<void>;
};

type Options = {
  deliveries: DeliveryStore;
  clock: Clock;
  /** Called with the number of plays that could not be kept while the store was away; reports will lack them. */
  onLost(plays: number): void;
  /** How much is kept while the store is away, in user ids; a play counts as eight. About 30 MB by default. */
  maxWeight?: number;
};

/** A delivery that is not stored yet, and the audience to be stored before it. */
type Entry = { delivery: NewDelivery; audience: NewAudience | undefined; weight: number };
type OpenEntry = Entry & { version: AudienceVersion };
type Given = { event: PlayedEvent; hearers: Hearers; first: number; last: number };

const defaultMaxWeight = 1_000_000;
const weightAtOnce = 200_000; // lets sends of an embedded database run between two transactions
const playWeight = 8;

/** Creates a ledger on the store. Consecutive events to the same audience share a row. */
export function createDeliveryLedger({
  deliveries,
  clock,
  onLost,
  maxWeight = defaultMaxWeight,
}: Options): DeliveryLedger {
  const { spanOffsets, audienceLivesMs } = deliveries.bounds;
  const open = new Map<Audience, OpenEntry>();
  const handed = new WeakSet<AudienceVersion>();
  const given = new Map<string, Given>();
  let entries: Entry[] = [];
  let weight = 0;
  let givenWeight = 0;
  let nobody = createHearers();
  let epoch = 0;
  let flushing: Promise<void> | undefined;

  function push<Pushed extends Entry>(entry: Pushed): Pushed {
    entries.push(entry);
    weight += entry.weight;
    if (weight > maxWeight) loseOldest();
    return entry;
  }

  /** Drops the oldest entries, but never the newest, however large: the store has been away for long. */
  function loseOldest(): void {
    let count = 0;
    let plays = 0;
    while (weight > maxWeight / 2 && count < entries.length - 1) {
      const entry = entries[count];
      if (entry === undefined) break;
      count++;
      weight -= entry.weight;
      plays += entry.delivery.plays.length;
      if (entry.audience !== undefined) epoch++; // nothing may refer to an audience that was not stored
    }
    entries = entries.slice(count);
    if (count === 0) return;
    open.clear();
    onLost(plays);
  }

  /** Whether an event may share the row of those before it. */
  function fits({ delivery }: Entry, connections: number, offset: number): boolean {
    const [first] = delivery.plays;
    return delivery.connections === connections && first !== undefined && offset - first[0] < spanOffsets;
  }

  function closeGiven(): void {
    const groups = groupInSpans(given.values(), {
      keyOf: ({ event: { org, cid = "" }, hearers }) => joinIds(hearers.id, org, cid),
      placeOf: ({ event }) => event.offset,
      span: spanOffsets,
    });
    for (const group of groups) {
      const [{ event, hearers }] = group;
      const plays = group.map(({ event: { offset }, first, last }): Play => [offset, first, last]);
      push(entryOf(event, { uids: hearers.uids(), connections: hearers.connections, plays }));
    }
    given.clear();
    nobody = createHearers();
    givenWeight = 0;
  }

  /** Removes and returns the oldest entries, as many as one transaction should hold. */
  function take(): Entry[] {
    let count = 0;
    const most = Math.min(entries.length, rowsOfStatement);
    for (let taken = 0; count < most && taken < weightAtOnce; count++) taken += entries[count]?.weight ?? 0;
    const batch = entries.slice(0, count);
    entries = entries.slice(count);
    for (const entry of batch) weight -= entry.weight;
    open.clear();
    return batch;
  }

  function putBack(batch: Entry[]): void {
    entries = [...batch, ...entries];
    for (const entry of batch) weight += entry.weight;
    if (weight > maxWeight) loseOldest();
  }

  async function store(batch: Entry[]): Promise<void> {
    try {
      await deliveries.record({
        audiences: batch.flatMap(({ audience }) => audience ?? []),
        deliveries: batch.map(({ delivery }) => delivery),
      });
    } catch (error) {
      // An error of the batch itself would recur for ever.
      if (error instanceof HeraldError) putBack(batch);
      else {
        epoch++;
        onLost(batch.reduce((sum, { delivery }) => sum + delivery.plays.length, 0));
      }
      throw error;
    }
  }

  async function storeAll(): Promise<void> {
    closeGiven();
    while (entries.length > 0) await store(take());
  }

  /** Notes that an event was played to an audience. */
  function note(event: PlayedEvent, audience: Audience, kind: "delivery" | "away"): void {
    const now = clock.now();
    const version = audience.version(now, epoch, audienceLivesMs);
    const { offset } = event;
    const last = open.get(audience);
    if (last !== undefined && last.version === version && fits(last, audience.connections, offset)) {
      last.delivery.plays.push([offset, now, now]);
      last.weight += playWeight;
      weight += playWeight;
      if (weight > maxWeight) loseOldest();
      return;
    }
    const { listed, kept } = version;
    const entry = entryOf(event, {
      kind,
      uids: listed,
      audience: kept?.id,
      connections: audience.connections,
      plays: [[offset, now, now]],
    });
    if (kept !== undefined && !handed.has(version)) {
      handed.add(version);
      entry.audience = { ...kept, org: event.org, cid: audience.cid, offset };
      entry.weight += kept.added.length + kept.removed.length;
    }
    open.set(audience, push({ ...entry, version }));
  }

  return {
    played(event, audience) {
      if (audience.connections === 0) return;
      // First, so that nobody who is away counts as reached if only one of the two is stored.
      if (audience.away !== undefined) note(event, audience.away, "away");
      note(event, audience, "delivery");
    },
    playedTo(event, uids, connections, away = []) {
      if (connections === 0) return;
      const now = clock.now();
      const plays: Play[] = [[event.offset, now, now]];
      if (away.length > 0) push(entryOf(event, { kind: "away", uids: away, connections: away.length, plays }));
      push(entryOf(event, { uids, connections, plays }));
    },
    given(uid, events) {
      const now = clock.now();
      for (const { org, offset, id, cid } of events) {
        const key = joinIds(org, offset);
        const known = given.get(key);
        const before = known?.hearers ?? nobody;
        givenWeight += (known === undefined ? playWeight : 0) + (before.knows(uid) ? 0 : 1);
        const hearers = before.with(uid);
        given.set(key, {
          event: known?.event ?? { org, offset, id, cid },
          hearers,
          first: known?.first ?? now,
          last: now,
        });
      }
      if (weight + givenWeight > maxWeight) closeGiven();
    },
    renew() {
      epoch++;
      open.clear();
    },
    async flush() {
      flushing ??= storeAll().finally(() => {
        flushing = undefined;
      });
      await flushing;
    },
  };
}

type Facts = Pick<NewDelivery, "uids" | "connections" | "plays"> & {
  kind?: "delivery" | "away";
  audience?: string | undefined;
};

function entryOf(
  { org, cid, id }: PlayedEvent,
  { kind = "delivery", uids, audience, connections, plays }: Facts,
): Entry {
  return {
    delivery: { id: createId(timeOfId(id)), org, cid, kind, connections, audience, uids, plays },
    audience: undefined,
    weight: plays.length * playWeight + (uids?.length ?? 0),
  };
}
