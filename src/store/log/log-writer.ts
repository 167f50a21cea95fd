import type { CommitMark, LogEvent } from "../../contract/log/log-event.ts";
import { type LogPlace, logStart } from "../../contract/log/log-place.ts";
import type { Turn } from "../../lib/queues/turns.ts";
import { type Driver, type Row, type Rows, type Transaction, unowned } from "../sql/driver.ts";
import { dueRows, readWishes, type Wish, wishesFor } from "../webhooks/wishes.ts";
import { importedKind } from "./past.ts";

/** An event without an offset. */
export type NewEvent = Omit<LogEvent, "offset" | "prev"> & {
  sender?: string | undefined;
  mid?: string | undefined;
  fingerprint?: string | undefined;
  keyId?: string | undefined;
  createdAt: number;
};

/**
 * An imported message: it is given a place before the log, where no player looks. `importId` is its id in the import.
 */
export type PastMessage = {
  org: string;
  id: string;
  importId: string;
  cid: string;
  sender: string;
  payload: string;
  createdAt: number;
  keyId: string;
};

/** A transaction that may emit events. */
export type LogTransaction = {
  sql: Transaction;
  /** The current heads of the requested organizations that exist. */
  heads: ReadonlyMap<string, number>;
  /**
   * Gives the event the next offset of its organization, which must be among `heads`, and stores it with the transaction.
   * `recipients`: their number, if it differs from the number of `uids`.
   */
  emit(event: NewEvent, recipients?: number): Emitted;
  /** The offset after which the organization's next imported message lies. */
  pastHead(org: string): number;
  /** Gives the message the next offset before the log, and stores it with the transaction. Nobody hears of it. */
  emitPast(message: PastMessage): void;
  /** Takes bytes that are removed off the organization's count; needs an `emit` or `emitPast` of it in the same transaction. */
  uncount(org: string, bytes: number): void;
  /** Adds to the organization's count what a stored event grew by, or with fewer than 0 bytes shrank by. */
  recount(org: string, offset: number, bytes: number): void;
};

/**
 * The place of an emitted event, its offset and the id of its predecessor as in `LogEvent`, and how many webhooks wait for it,
 * if any.
 */
export type Emitted = Pick<LogEvent, "offset" | "prev"> & { webhooks?: number | undefined };

type Work<Result, Seen = void> = (transaction: LogTransaction, seen: Seen) => Promise<Result>;

/** Reads the rows that decide the outcome of a batch. */
type Look<Seen> = (rows: Pick<Rows, "find">) => Promise<Seen>;

type EventRow = Row & { payload: string; uids: string | null };

type LockedRow = {
  id: string;
  head: number;
  deleted_at: number | null;
  head_id: string | null;
  head_id_offset: number | null;
  stored_bytes: number;
  counted_to: number;
  past_head: number;
  webhooks: string | null;
};

/**
 * A locked log: its end, the bytes of its events up to the offset `countedTo`, its last imported message, and what the
 * webhooks of its organization wait for.
 */
type LockedLog = { place: LogPlace; storedBytes: number; countedTo: number; pastHead: number; wishes: Wish[] };

type PastRow = EventRow & { org: string };

type EmittedEvent = { event: NewEvent; place: Emitted; recipients: number | undefined; log: LockedLog };

const lockedColumns = [
  "id",
  "head",
  "deleted_at",
  "head_id",
  "head_id_offset",
  "stored_bytes",
  "counted_to",
  "past_head",
  "webhooks",
];

/** Writes events to logs, in one transaction with the rows they concern. */
export type LogWriter = {
  /**
   * Locks the rows of `orgs` in key order, runs `work`, stores the emitted events and commits. If it rejects, nothing
   * was stored, unless the database was lost during the commit: then the outcome is unknown. A single organization waits
   * its own turn.
   */
  commit<Result>(orgs: string[], work: Work<Result>): Promise<Result>;
  /**
   * Like `commit`, in the turn that batches share. The queries of `look` are sent right after the lock, without waiting
   * for it, and see the state under the lock.
   */
  commitBatch<Result, Seen>(orgs: string[], look: Look<Seen>, work: Work<Result, Seen>): Promise<Result>;
  /** Like `commit`, and then announces the events. */
  transaction<Result>(orgs: string[], work: Work<Result>): Promise<Result>;
  /** Like `transaction`, for one of the many parts of a change to one organization. */
  bulk<Result>(org: string, work: Work<Result>): Promise<Result>;
};

/** Creates a log writer. `announce` is called after each `transaction` that emitted events, in offset order. */
export function createLogWriter({
  driver,
  announce,
}: {
  driver: Driver;
  announce(events: LogEvent[]): void;
}): LogWriter {
  async function lock({ rows }: Transaction, orgs: readonly string[]): Promise<Map<string, LockedLog>> {
    const keys = orgs.map((id) => ({ id }));
    const found = await rows.lock<LockedRow>("organization", lockedColumns, keys);
    const live = found.filter(({ deleted_at }) => deleted_at === null);
    return new Map(live.map((row) => [row.id, logOf(row)]));
  }

  async function store({ rows }: Transaction, emitted: EmittedEvent[]): Promise<unknown> {
    const last = new Map<string, EmittedEvent>();
    const eventRows = emitted.map((one) => {
      const row = toRow(one);
      countIn(one.log, one.place.offset, row);
      last.set(one.event.org, one);
      return row;
    });
    const heads = [...last].map(
      ([
        id,
        {
          event,
          place: { offset },
          log,
        },
      ]) => ({
        id,
        head: offset,
        head_id: event.id,
        head_id_offset: offset,
        stored_bytes: log.storedBytes,
        counted_to: log.countedTo,
      }),
    );
    const due = emitted.flatMap(({ event, place, log }) =>
      log.wishes.length === 0 ? [] : dueRows(log.wishes, event, place.offset),
    );
    return await Promise.all([
      rows.insert("event", eventRows),
      rows.update("organization", ["id"], heads),
      rows.insert("webhook_due", due),
    ]);
  }

  async function storePast({ rows }: Transaction, past: PastRow[], logs: Map<string, LockedLog>): Promise<unknown> {
    for (const row of past) {
      const log = logs.get(row.org);
      if (log !== undefined) log.storedBytes += bytesOf(row);
    }
    const orgs = [...new Set(past.map(({ org }) => org))];
    const heads = orgs.map((id) => {
      const { pastHead, storedBytes } = requireLog(logs, id);
      return { id, past_head: pastHead, stored_bytes: storedBytes };
    });
    return await Promise.all([rows.insert("event", past), rows.update("organization", ["id"], heads)]);
  }

  /** Stores the counts of organizations whose stored events changed in size. */
  async function storeCounts({ rows }: Transaction, orgs: Set<string>, logs: Map<string, LockedLog>): Promise<void> {
    const counts = Array.from(orgs, (id) => ({ id, stored_bytes: requireLog(logs, id).storedBytes }));
    await rows.update("organization", ["id"], counts);
  }

  async function write<Result, Seen>(
    orgs: readonly string[],
    { look, work, turn }: { look: Look<Seen>; work: Work<Result, Seen>; turn: Turn },
  ): Promise<{ result: Result; emitted: EmittedEvent[] }> {
    return await driver.transaction(async (sql) => {
      const [logs, , seen] = await Promise.all([lock(sql, orgs), sql.limitTo(orgs), look(sql.rows)]);
      const heads = new Map([...logs].map(([org, { place }]) => [org, place.offset]));
      const emitted: EmittedEvent[] = [];
      const past: PastRow[] = [];
      const emit = (event: NewEvent, recipients?: number) => {
        const log = requireLog(logs, event.org);
        const webhooks = log.wishes.length === 0 ? undefined : wishesFor(log.wishes, event).length;
        const place = { offset: log.place.offset + 1, prev: log.place.id, webhooks };
        log.place = { offset: place.offset, id: event.id };
        emitted.push({ event, place, recipients, log });
        return place;
      };
      const pastHead = (org: string) => requireLog(logs, org).pastHead;
      const emitPast = (message: PastMessage) => {
        const log = requireLog(logs, message.org);
        past.push(toPastRow(message, ++log.pastHead));
      };
      const uncount = (org: string, bytes: number) => {
        requireLog(logs, org).storedBytes -= bytes;
      };
      const recounted = new Set<string>();
      const recount = (org: string, offset: number, bytes: number) => {
        const log = requireLog(logs, org);
        if (offset > log.countedTo) return; // it will be counted with its size of then
        log.storedBytes = Math.max(0, log.storedBytes + bytes);
        recounted.add(org);
      };
      const result = await work({ sql, heads, emit, pastHead, emitPast, uncount, recount }, seen);
      sql.lastly(store(sql, emitted));
      if (past.length > 0) sql.lastly(storePast(sql, past, logs)); // after the events, which write the same count
      for (const { event } of emitted) recounted.delete(event.org); // stored with the head
      if (recounted.size > 0) sql.lastly(storeCounts(sql, recounted, logs));
      return { result, emitted };
    }, turn);
  }

  const writeInTurn = async <Result>(orgs: string[], work: Work<Result>, turn = turnOf(orgs)) =>
    await write(orgs, { look: async () => undefined, work, turn });

  async function writeAndAnnounce<Result>(orgs: string[], work: Work<Result>, turn?: Turn): Promise<Result> {
    const { result, emitted } = await writeInTurn(orgs, work, turn);
    if (emitted.length > 0) announce(emitted.map(({ event, place }) => toLogEvent(event, place)));
    return result;
  }

  return {
    commit: async (orgs, work) => (await writeInTurn(orgs, work)).result,
    async commitBatch(orgs, look, work) {
      const distinct = [...new Set(orgs)]; // a batch names an organization once for each of its sends
      return (await write(distinct, { look, work, turn: "batch" })).result;
    },
    transaction: (orgs, work) => writeAndAnnounce(orgs, work),
    bulk: (org, work) => writeAndAnnounce([org], work, { of: org, isBulk: true }),
  };
}

function logOf(row: LockedRow): LockedLog {
  return {
    place: headOf(row),
    storedBytes: Number(row.stored_bytes),
    countedTo: Number(row.counted_to),
    pastHead: Number(row.past_head),
    wishes: readWishes(row.webhooks),
  };
}

function requireLog(logs: ReadonlyMap<string, LockedLog>, org: string): LockedLog {
  const log = logs.get(org);
  if (log === undefined) throw new Error("an event for an organization that was not locked");
  return log;
}

/** Counts an event, unless earlier ones are still uncounted; then it is counted later with them. */
function countIn(log: LockedLog, offset: number, row: EventRow): void {
  if (log.countedTo !== offset - 1) return;
  log.countedTo = offset;
  log.storedBytes += bytesOf(row);
}

function bytesOf({ payload, uids }: EventRow): number {
  return Buffer.byteLength(payload) + (uids === null ? 0 : Buffer.byteLength(uids));
}

function turnOf([org, another]: string[]): Turn {
  return org === undefined || another !== undefined ? unowned : { of: org };
}

/** The end of a log. The id is unknown if the last writer was a version that does not record ids. */
function headOf({ head, head_id, head_id_offset }: LockedRow): LogPlace {
  const offset = Number(head);
  if (offset === 0) return logStart;
  return { offset, id: head_id !== null && Number(head_id_offset) === offset ? head_id : undefined };
}

function toRow({ event, place, recipients }: EmittedEvent): EventRow {
  return {
    org: event.org,
    offset: place.offset,
    kind: event.kind,
    id: event.id,
    cid: event.cid ?? null,
    sender: event.sender ?? null,
    mid: event.mid ?? null,
    fingerprint: event.fingerprint ?? null,
    uids: event.uids === undefined ? null : JSON.stringify(event.uids),
    payload: event.payload,
    created_at: event.createdAt,
    key_id: event.keyId ?? null,
    recipients: recipients ?? null,
  };
}

/** The row of an imported message, which was sent to nobody. */
function toPastRow(message: PastMessage, offset: number): PastRow {
  const { org, id, importId, cid, sender, payload, createdAt, keyId } = message;
  return {
    org,
    offset,
    kind: importedKind,
    id,
    cid,
    sender,
    mid: importId,
    uids: null,
    payload,
    created_at: createdAt,
    key_id: keyId,
    recipients: 0,
  };
}

/** The part of a stored event that is published, without what only the store needs. */
export function toLogEvent(
  { org, kind, id, cid, payload, uids }: NewEvent,
  { offset, prev }: Emitted,
  committed?: CommitMark,
): LogEvent {
  return { org, offset, kind, id, cid, payload, uids, prev, committed };
}
