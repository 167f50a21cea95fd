import { type LogEvent, type LogPlace, logStart } from "../contract/log-event.ts";
import type { Driver, Row, Transaction } from "./driver.ts";

/** An event that has no offset yet. */
export type NewEvent = Omit<LogEvent, "offset" | "prev"> & {
  sender?: string | undefined;
  mid?: string | undefined;
  fingerprint?: string | undefined;
  keyId?: string | undefined;
  /** How many users it was addressed to, where that is not the number of its `uids`. */
  recipients?: number | undefined;
  createdAt: number;
};

/** A transaction that may write events. */
export type LogTransaction = {
  sql: Transaction;
  /** Those of the organizations asked for that exist, with the heads that their logs have now. */
  heads: ReadonlyMap<string, number>;
  /** Gives the event the next offset of its organization, which must be among `heads`, and stores it with the transaction. */
  emit(event: NewEvent): Emitted;
};

/** Where an event came to stand: its offset, and the id of the event before it, as in `LogEvent`. */
export type Emitted = Pick<LogEvent, "offset" | "prev">;

type Work<Result> = (transaction: LogTransaction) => Promise<Result>;
type StoredEvent = NewEvent & Emitted;

type LockedRow = {
  id: string;
  head: number;
  deleted_at: number | null;
  head_id: string | null;
  head_id_offset: number | null;
};

const lockedColumns = ["id", "head", "deleted_at", "head_id", "head_id_offset"];

/** Writes events into logs, each with what it is about, in one transaction. */
export type LogWriter = {
  /**
   * Locks the rows of `orgs` in key order, runs `work`, stores what it emitted, and commits. When it rejects nothing of
   * it was stored, unless the database was lost during the commit: then nobody knows.
   */
  commit<Result>(orgs: string[], work: Work<Result>): Promise<Result>;
  /** The same, and then announces the events. */
  transaction<Result>(orgs: string[], work: Work<Result>): Promise<Result>;
};

/** `announce` is called after each commit that stored events, with the events in offset order. */
export function createLogWriter({
  driver,
  announce,
}: {
  driver: Driver;
  announce(events: LogEvent[]): void;
}): LogWriter {
  async function lock({ rows }: Transaction, orgs: string[]): Promise<Map<string, LogPlace>> {
    const keys = orgs.map((id) => ({ id }));
    const found = await rows.lock<LockedRow>("organization", lockedColumns, keys);
    const live = found.filter(({ deleted_at }) => deleted_at === null);
    return new Map(live.map((row) => [row.id, headOf(row)]));
  }

  async function store({ rows }: Transaction, events: StoredEvent[]): Promise<void> {
    const heads = new Map(events.map((event) => [event.org, event]));
    await Promise.all([
      rows.insert("event", events.map(toRow)),
      rows.update(
        "organization",
        ["id"],
        [...heads].map(([org, { offset, id }]) => ({ id: org, head: offset, head_id: id, head_id_offset: offset })),
      ),
    ]);
  }

  async function write<Result>(orgs: string[], work: Work<Result>): Promise<{ result: Result; events: StoredEvent[] }> {
    const distinct = [...new Set(orgs)]; // a batch names an organization once for each of its sends
    return await driver.transaction(async (sql) => {
      const [places] = await Promise.all([lock(sql, distinct), sql.limitTo(distinct)]);
      const heads = new Map([...places].map(([org, { offset }]) => [org, offset]));
      const events: StoredEvent[] = [];
      const emit = (event: NewEvent) => {
        const head = places.get(event.org);
        if (head === undefined) throw new Error(`an event for an organization that was not locked: ${event.kind}`);
        const stored = { ...event, offset: head.offset + 1, prev: head.id };
        places.set(event.org, stored);
        events.push(stored);
        return stored;
      };
      const result = await work({ sql, heads, emit });
      await store(sql, events);
      return { result, events };
    });
  }

  return {
    commit: async (orgs, work) => (await write(orgs, work)).result,
    async transaction(orgs, work) {
      const { result, events } = await write(orgs, work);
      if (events.length > 0) announce(events.map(toLogEvent));
      return result;
    },
  };
}

/** Where a log ends. A Herald that does not record ids may have written last: then the id is not known. */
function headOf({ head, head_id, head_id_offset }: LockedRow): LogPlace {
  const offset = Number(head);
  if (offset === 0) return logStart;
  return { offset, id: head_id !== null && Number(head_id_offset) === offset ? head_id : undefined };
}

function toRow(event: StoredEvent): Row {
  return {
    org: event.org,
    offset: event.offset,
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
    recipients: event.recipients ?? null,
  };
}

/** What of an event travels: all but what only the store needs to know. */
export function toLogEvent({ org, offset, kind, id, cid, payload, uids, prev }: LogEvent): LogEvent {
  return { org, offset, kind, id, cid, payload, uids, prev };
}
