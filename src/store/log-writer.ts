import type { LogEvent } from "../contract/log-event.ts";
import type { Driver, Sql } from "./driver.ts";

/** An event that has no offset yet. */
export type NewEvent = Omit<LogEvent, "offset"> & {
  sender?: string | undefined;
  mid?: string | undefined;
  fingerprint?: string | undefined;
  keyId?: string | undefined;
  createdAt: number;
};

/** A transaction that may write events. */
export type LogTransaction = {
  sql: Sql;
  /** Those of the organizations asked for that exist, with the heads that their logs have now. */
  heads: ReadonlyMap<string, number>;
  /** Gives the event the next offset of its organization, which must be among `heads`, and stores it with the transaction. */
  emit(event: NewEvent): number;
};

type Work<Result> = (transaction: LogTransaction) => Promise<Result>;
type StoredEvent = NewEvent & { offset: number };

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

const insertEvent = `INSERT INTO event (org, "offset", kind, id, cid, sender, mid, fingerprint, uids, payload, created_at, key_id)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`;

/** `announce` is called after each commit that stored events, with the events in offset order. */
export function createLogWriter({
  driver,
  announce,
}: {
  driver: Driver;
  announce(events: LogEvent[]): void;
}): LogWriter {
  const lockOrganization = `SELECT head FROM organization WHERE id = ? AND deleted_at IS NULL${driver.dialect.forUpdate}`;

  async function lock(sql: Sql, orgs: string[]): Promise<Map<string, number>> {
    const inOrder = [...new Set(orgs)].sort();
    const found = await Promise.all(inOrder.map((org) => sql.all<{ head: number }>(lockOrganization, org)));
    const heads = new Map<string, number>();
    for (const [index, org] of inOrder.entries()) {
      const head = found[index]?.[0]?.head;
      if (head !== undefined) heads.set(org, Number(head));
    }
    return heads;
  }

  async function store(sql: Sql, events: StoredEvent[]): Promise<void> {
    const heads = new Map<string, number>();
    const inserts = events.map((event) => {
      heads.set(event.org, event.offset);
      return sql.run(
        insertEvent,
        event.org,
        event.offset,
        event.kind,
        event.id,
        event.cid ?? null,
        event.sender ?? null,
        event.mid ?? null,
        event.fingerprint ?? null,
        event.uids === undefined ? null : JSON.stringify(event.uids),
        event.payload,
        event.createdAt,
        event.keyId ?? null,
      );
    });
    const updates = [...heads].map(([org, head]) =>
      sql.run("UPDATE organization SET head = ? WHERE id = ?", head, org),
    );
    await Promise.all([...inserts, ...updates]);
  }

  async function write<Result>(orgs: string[], work: Work<Result>): Promise<{ result: Result; events: StoredEvent[] }> {
    return await driver.transaction(async (sql) => {
      const heads = await lock(sql, orgs);
      const next = new Map(heads);
      const events: StoredEvent[] = [];
      const emit = (event: NewEvent) => {
        const head = next.get(event.org);
        if (head === undefined) throw new Error(`an event for an organization that was not locked: ${event.kind}`);
        const offset = head + 1;
        next.set(event.org, offset);
        events.push({ ...event, offset });
        return offset;
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

/** What of an event travels: all but what only the store needs to know. */
export function toLogEvent({ org, offset, kind, id, cid, payload, uids }: LogEvent): LogEvent {
  return { org, offset, kind, id, cid, payload, uids };
}
