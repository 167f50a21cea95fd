import type { LogEvent } from "../contract/log-event.ts";
import type { Driver, Sql } from "./driver.ts";

/** An event that has no offset yet. */
export type NewEvent = Omit<LogEvent, "offset"> & {
  sender?: string | undefined;
  mid?: string | undefined;
  fingerprint?: string | undefined;
  createdAt: number;
};

/** A transaction that may write events. */
export type LogTransaction = {
  sql: Sql;
  /** Those of the organizations asked for that exist, with the heads that their logs have now. */
  heads: ReadonlyMap<string, number>;
  /** Gives the event the next offset of its organization, which must be among `heads`; stores it with the transaction. */
  emit(event: NewEvent): void;
};

/** Writes events into logs, each with what it is about, in one transaction. */
export type LogWriter = {
  /**
   * Locks the rows of `orgs` in key order, runs `work`, stores what it emitted, commits, and then announces the events.
   * When it rejects nothing of it was stored, unless the database was lost during the commit: then nobody knows.
   */
  transaction<Result>(orgs: string[], work: (transaction: LogTransaction) => Promise<Result>): Promise<Result>;
};

const insertEvent = `INSERT INTO event (org, "offset", kind, id, cid, sender, mid, fingerprint, uids, payload, created_at)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`;

/** `announce` is called once for each commit that stored events, after the flush, with the events in offset order. */
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

  async function store(sql: Sql, events: (NewEvent & { offset: number })[]): Promise<void> {
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
      );
    });
    const updates = [...heads].map(([org, head]) =>
      sql.run("UPDATE organization SET head = ? WHERE id = ?", head, org),
    );
    await Promise.all([...inserts, ...updates]);
  }

  return {
    async transaction(orgs, work) {
      const { result, events } = await driver.transaction(async (sql) => {
        const heads = await lock(sql, orgs);
        const next = new Map(heads);
        const events: (NewEvent & { offset: number })[] = [];
        const emit = (event: NewEvent) => {
          const head = next.get(event.org);
          if (head === undefined) throw new Error(`an event for an organization that was not locked: ${event.kind}`);
          next.set(event.org, head + 1);
          events.push({ ...event, offset: head + 1 });
        };
        const result = await work({ sql, heads, emit });
        await store(sql, events);
        return { result, events };
      });
      if (events.length > 0) {
        announce(
          events.map(({ org, offset, kind, id, cid, payload, uids }) => ({
            org,
            offset,
            kind,
            id,
            cid,
            payload,
            uids,
          })),
        );
      }
      return result;
    },
  };
}
