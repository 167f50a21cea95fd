import type { LogEvent } from "../../contract/log/log-event.ts";
import type { LogPlace } from "../../contract/log/log-place.ts";
import type { Turn } from "../../lib/queues/queue.ts";
import { silentMarkOf, storedPiece } from "../messages/pieces.ts";
import type { NewSend } from "../ports.ts";
import { type Driver, type Row, type Rows, type Transaction, unowned } from "../sql/driver.ts";
import type { WebhookDelivery } from "../webhooks/ports.ts";
import { deliveriesOf, type NewNotice, storeDeliveries } from "../webhooks/posts.ts";
import { dueRows, readWishes, type Wish } from "../webhooks/wishes.ts";
import { toHead } from "./head.ts";
import type { importedKind, importedSystemKind } from "./past.ts";
import { toLogEvent } from "./send-log.ts";

/** An event without an offset. */
export type NewEvent = Omit<LogEvent, "offset" | "prev"> & {
  sender?: string | undefined;
  mid?: string | undefined;
  fingerprint?: string | undefined;
  /** As in `NewSend`. */
  silent?: true | undefined;
  /** As in `NewSend`. */
  piece?: NewSend["piece"];
  keyId?: string | undefined;
  createdAt: number;
};

/**
 * An imported message or system message: it is given a place before the log, where no player looks. `mid` of a message is its id in the
 * import.
 */
export type PastEvent = Omit<NewEvent, "kind"> & {
  kind: typeof importedKind | typeof importedSystemKind;
  /** How many users have reacted to it in which way, as JSON. */
  reactions?: string | undefined;
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
  /** Stores a notice, with the transaction, for each webhook of the organization that wants it. Without one, this does nothing. */
  notify(org: string, notice: NewNotice): void;
  /** The offset after which the organization's next imported message lies. */
  pastHead(org: string): number;
  /** Gives the event the next offset before the log, stores it with the transaction, and returns the offset. Nobody hears of it. */
  emitPast(event: PastEvent): number;
  /** Adds to the organization's stored bytes, or with fewer than 0 takes from them. Those of a deleted one do not count. */
  count(org: string, bytes: number): void;
  /** Counts what a stored event grew by, or with fewer than 0 bytes shrank by. */
  recount(org: string, offset: number, bytes: number): void;
};

/**
 * The place of an emitted event, its offset and the id of its predecessor as in `LogEvent`, and how many webhooks wait for it,
 * if any.
 */
export type Emitted = Pick<LogEvent, "offset" | "prev"> & { webhooks?: number | undefined };

type Work<Result, Seen = void> = (transaction: LogTransaction, seen: Seen) => Promise<Result>;

/** Work on an organization whose log ends at `head`. */
type Change<Result> = (transaction: LogTransaction, head: number) => Promise<Result>;

/** Where the rows that decide an outcome are read, and the time. */
export type Looking = Pick<Transaction, "all" | "dialect"> & { rows: Pick<Rows, "find"> };

/** Reads what decides the outcome of a batch. */
type Look<Seen> = (sql: Looking) => Promise<Seen>;

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

type EmittedEvent = { event: NewEvent; place: Emitted };

const findHead = "SELECT head FROM organization WHERE id = ? AND deleted_at IS NULL";
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
   * Locks the rows of `orgs` in key order, runs `work`, stores the emitted events and commits; then announces them. If it
   * rejects, nothing was stored, unless the database was lost during the commit: then the outcome is unknown. A single
   * organization waits its own turn by default.
   */
  transaction<Result>(orgs: string[], work: Work<Result>, turn?: Turn): Promise<Result>;
  /** Like `transaction` for one organization. Returns `missing` if it does not exist. */
  change<Result, Missing>(org: string, missing: Missing, work: Change<Result>): Promise<Result | Missing>;
  /** Like `change`, for one of the many parts of a change. */
  bulk<Result, Missing>(org: string, missing: Missing, work: Change<Result>): Promise<Result | Missing>;
  /**
   * Like `transaction`, in the turn that batches share and without announcing. The queries of `look` are sent right after
   * the lock, without waiting for it, and see the state under the lock.
   */
  commitBatch<Result, Seen>(orgs: string[], look: Look<Seen>, work: Work<Result, Seen>): Promise<Result>;
  /** Runs `work`, which only reads, beside the commits, in the turn of the organization. Without `head` it does not exist. */
  check<Result>(org: string, work: (sql: Transaction, head: number | undefined) => Promise<Result>): Promise<Result>;
};

/** What writes are made with. */
export type WriteDependencies = { driver: Driver; writer: LogWriter };

type Options = { driver: Driver; announce(events: LogEvent[]): void };

/** Creates a log writer. `announce` is called after each commit with events, except batches, with them in offset order. */
export function createLogWriter({ driver, announce }: Options): LogWriter {
  async function lock({ rows }: Transaction, orgs: readonly string[]): Promise<Map<string, LockedLog>> {
    const keys = orgs.map((id) => ({ id }));
    const found = await rows.lock<LockedRow>("organization", lockedColumns, keys);
    const live = found.filter(({ deleted_at }) => deleted_at === null);
    return new Map(live.map((row) => [row.id, logOf(row)]));
  }

  async function write<Result, Seen>(
    orgs: readonly string[],
    { look, work, turn }: { look: Look<Seen>; work: Work<Result, Seen>; turn: Turn },
  ): Promise<{ result: Result; emitted: EmittedEvent[] }> {
    return await driver.transaction(async (sql) => {
      const [logs, , seen] = await Promise.all([lock(sql, orgs), sql.limitTo(orgs), look(sql)]);
      const { transaction, emitted, store } = collect(sql, logs);
      const result = await work(transaction, seen);
      sql.lastly(store());
      return { result, emitted };
    }, turn);
  }

  async function transaction<Result>(orgs: string[], work: Work<Result>, turn = turnOf(orgs)): Promise<Result> {
    const { result, emitted } = await write(orgs, { look: async () => undefined, work, turn });
    if (emitted.length > 0) announce(emitted.map(({ event, place }) => toLogEvent(event, place)));
    return result;
  }

  async function change<Result, Missing>(org: string, missing: Missing, work: Change<Result>, turn: Turn) {
    const ifThere = async (transaction: LogTransaction) => {
      const head = transaction.heads.get(org);
      return head === undefined ? missing : await work(transaction, head);
    };
    return await transaction([org], ifThere, turn);
  }

  return {
    transaction,
    change: (org, missing, work) => change(org, missing, work, { of: org }),
    bulk: (org, missing, work) => change(org, missing, work, { of: org, isBulk: true }),
    async commitBatch(orgs, look, work) {
      const distinct = [...new Set(orgs)]; // a batch names an organization once for each of its sends
      return (await write(distinct, { look, work, turn: "batch" })).result;
    },
    check: (org, work) =>
      driver.aside(
        async (sql) => {
          await sql.limitTo([org]);
          const [row] = await sql.all<{ head: number }>(findHead, org);
          return await work(sql, row && Number(row.head));
        },
        { of: org },
      ),
  };
}

/** Collects what a transaction emits and counts in locked logs. `store` sends all of it to the database. */
function collect(sql: Transaction, logs: ReadonlyMap<string, LockedLog>) {
  const emitted: EmittedEvent[] = [];
  const events: EventRow[] = [];
  const reactedTo: (EventRow & { reactions: string })[] = []; // apart, as others are inserted without that column
  const due: Row[] = [];
  const deliveries: WebhookDelivery[] = [];
  const moved = new Map<string, LockedLog>(); // those with new events
  const counted = new Map<string, LockedLog>(); // those of which only the counts or the past have changed

  function logOfChange(org: string): LockedLog {
    const log = requireLog(logs, org);
    counted.set(org, log);
    return log;
  }

  function emit(event: NewEvent, recipients?: number): Emitted {
    const { org } = event;
    const log = requireLog(logs, org);
    moved.set(org, log);
    const offset = log.place.offset + 1;
    const waiting = log.wishes.length === 0 ? undefined : dueRows(log.wishes, event, offset);
    if (waiting !== undefined) due.push(...waiting);
    const place = { offset, prev: log.place.id, webhooks: waiting?.length };
    log.place = { offset, id: event.id };
    const row = toRow(event, offset, recipients);
    countIn(log, offset, row);
    events.push(row);
    emitted.push({ event, place });
    return place;
  }

  const transaction: LogTransaction = {
    sql,
    heads: new Map([...logs].map(([org, { place }]) => [org, place.offset])),
    emit,
    notify: (org, notice) => void deliveries.push(...deliveriesOf(org, requireLog(logs, org).wishes, notice)),
    pastHead: (org) => requireLog(logs, org).pastHead,
    emitPast(event) {
      const log = logOfChange(event.org);
      const row = toRow(event, ++log.pastHead, 0); // it was sent to nobody
      log.storedBytes += bytesOf(row);
      if (event.reactions === undefined) events.push(row);
      else reactedTo.push({ ...row, reactions: event.reactions });
      return log.pastHead;
    },
    count(org, bytes) {
      if (!logs.has(org)) return;
      const log = logOfChange(org);
      log.storedBytes = Math.max(0, log.storedBytes + bytes);
    },
    recount(org, offset, bytes) {
      // One that is not counted yet will be with its size of then.
      if (offset <= requireLog(logs, org).countedTo) transaction.count(org, bytes);
    },
  };

  async function store(): Promise<void> {
    const heads = Array.from(moved, ([id, log]) => {
      const { offset, id: eventId = null } = log.place;
      return { id, head: offset, head_id: eventId, head_id_offset: offset, ...countsOf(log) };
    });
    const others = [...counted].filter(([org]) => !moved.has(org)).map(([id, log]) => ({ id, ...countsOf(log) }));
    await Promise.all([
      sql.rows.insert("event", events),
      reactedTo.length > 0 && sql.rows.insert("event", reactedTo),
      sql.rows.update("organization", ["id"], heads),
      sql.rows.insert("webhook_due", due),
      others.length > 0 && sql.rows.update("organization", ["id"], others),
      deliveries.length > 0 && storeDeliveries(sql, deliveries),
    ]);
  }

  return { transaction, emitted, store };
}

function countsOf({ storedBytes, countedTo, pastHead }: LockedLog) {
  return { stored_bytes: storedBytes, counted_to: countedTo, past_head: pastHead };
}

function logOf({ head, head_id: id, head_id_offset, ...row }: LockedRow): LockedLog {
  // The id is unknown if the last writer was a version that does not record ids.
  const head_id = Number(head_id_offset) === Number(head) ? id : null;
  return {
    place: toHead({ head, head_id }),
    storedBytes: Number(row.stored_bytes),
    countedTo: Number(row.counted_to),
    pastHead: Number(row.past_head),
    wishes: row.webhooks === null ? [] : readWishes(row.webhooks),
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

function toRow(event: NewEvent | PastEvent, offset: number, recipients: number | undefined): EventRow {
  const { piece } = event;
  return {
    org: event.org,
    offset,
    kind: event.kind,
    id: event.id,
    cid: piece === undefined ? (event.cid ?? null) : null, // so that pages of the conversation have no pieces to skip
    sender: event.sender ?? null,
    mid: event.mid ?? null,
    fingerprint: event.fingerprint ?? null,
    uids: event.uids === undefined ? null : JSON.stringify(event.uids),
    payload: piece === undefined ? event.payload : storedPiece(piece),
    created_at: event.createdAt,
    key_id: event.keyId ?? null,
    recipients: recipients ?? null,
    silent: silentMarkOf(event),
    expires_at: event.expiresAt ?? null,
  };
}
