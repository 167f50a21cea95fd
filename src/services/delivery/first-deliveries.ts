import { createRecentCopy } from "../../lib/caches/recent-copy.ts";
import type { Limiter } from "../../lib/queues/limiter.ts";
import { rowsOfLists } from "../../lib/queues/steps.ts";
import { joinIds } from "../../lib/text/ids.ts";
import type { SteadyClock } from "../../lib/time/clock.ts";
import type { RecipientReads, SentEvent } from "../../store/delivery/ports.ts";
import { requestCosts } from "../limits/costs.ts";
import { createUserTimes, type UserTimes } from "./user-times.ts";

/** Charges more work, in requests. */
export type Pay = (cost: number) => Promise<void>;

type Place = Pick<SentEvent, "id" | "cid" | "offset" | "recipients">;
type Reads = Pick<RecipientReads, "deliveryIds" | "deliveries">;

/** The users of an event, and the rows that have been read for them. */
type Known = { times: UserTimes; seen: Set<string> };

type Options = {
  reads: Reads;
  /** Reads a few long lists at a time. Organizations take turns. */
  longReads: Pick<Limiter, "run">;
  clock: SteadyClock;
  /** How many users may be kept in all; the last event asked for is always kept. About 20 MB by default. */
  maxUsers?: number;
};

type Entry = Known & { refresh(): Promise<void> };

const maxAgeMs = 1_000;
const manyUsers = 1_000;
const weightOfEntry = 10; // in users

/**
 * Creates what finds to whom an event was delivered, and when first, in milliseconds since the Unix epoch, as of at most a second
 * ago. `pay` is called if the event has to be read from the start. Rows of the ledger never change, so the users of an event are
 * read once, and later pages of the same list read only the rows stored since.
 */
export function createFirstDeliveries({ reads, longReads, clock, maxUsers = 200_000 }: Options) {
  const entries = new Map<string, Entry>();

  function create(org: string, event: Place, recipients: number): Entry {
    const kept: Known = { times: createUserTimes(), seen: new Set() };
    const read = () => readNew(reads, org, event, kept);
    const refresh = createRecentCopy(
      async () => {
        await (recipients < manyUsers ? read() : longReads.run(read, { key: org }));
      },
      { maxAgeMs, clock },
    );
    return { ...kept, refresh };
  }

  function forgetSome(): void {
    const weightOf = ({ times, seen }: Entry) => times.size + seen.size + weightOfEntry;
    let users = entries.values().reduce((sum, entry) => sum + weightOf(entry), 0);
    for (const [key, entry] of entries) {
      if (users <= maxUsers || entries.size === 1) return;
      users -= weightOf(entry);
      entries.delete(key);
    }
  }

  return async (org: string, event: Place, pay: Pay): Promise<Pick<UserTimes, "find">> => {
    const { recipients = 0 } = event; // those sent to everyone have no list
    const key = joinIds(org, event.id);
    const work = entries.has(key) ? 0 : requestCosts.deliveries(recipients);
    if (work > 0) await pay(work);
    const entry = entries.get(key) ?? create(org, event, recipients);
    entries.delete(key);
    entries.set(key, entry); // the last one asked for is the newest
    await entry.refresh();
    forgetSome();
    return entry.times;
  };
}

/** To whom an event was delivered by now, and when first. */
export async function readFirstDeliveries(
  reads: Reads,
  org: string,
  event: Pick<Place, "cid" | "offset">,
): Promise<Pick<UserTimes, "find">> {
  const times = createUserTimes();
  await readNew(reads, org, event, { times, seen: new Set() });
  return times;
}

/** Who has got an event on connections of clients in the background only: each row that says so stands for one of the deliveries. */
export async function readAway(
  reads: Reads,
  org: string,
  { cid, offset }: Pick<Place, "cid" | "offset">,
): Promise<ReadonlySet<string>> {
  async function usersIn(ids: readonly string[]): Promise<string[]> {
    const all: string[] = [];
    for (let start = 0; start < ids.length; start += rowsOfLists) {
      const rows = await reads.deliveries(org, ids.slice(start, start + rowsOfLists), offset);
      for (const { uids } of rows) all.push(...uids);
    }
    return all;
  }

  const awayIds = await reads.deliveryIds(org, cid, offset, "away");
  if (awayIds.length === 0) return new Set();
  const counts = new Map<string, number>(); // times away, less the times that the event was delivered
  for (const uid of await usersIn(awayIds)) counts.set(uid, (counts.get(uid) ?? 0) + 1);
  for (const uid of await usersIn(await reads.deliveryIds(org, cid, offset))) {
    const count = counts.get(uid);
    if (count !== undefined) counts.set(uid, count - 1);
  }
  return new Set([...counts].flatMap(([uid, count]) => (count >= 0 ? [uid] : [])));
}

/** Reads the rows that are new. */
async function readNew(reads: Reads, org: string, { cid, offset }: Pick<Place, "cid" | "offset">, known: Known) {
  const { times, seen } = known;
  const ids = (await reads.deliveryIds(org, cid, offset)).filter((id) => !seen.has(id));
  for (let start = 0; start < ids.length; start += rowsOfLists) {
    const some = ids.slice(start, start + rowsOfLists);
    for (const { uids, first } of await reads.deliveries(org, some, offset)) times.add(uids, first);
    for (const id of some) seen.add(id);
  }
}
