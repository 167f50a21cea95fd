import type { Turn } from "../../lib/queues/queue.ts";
import type { Dialect } from "./dialect.ts";

/** A parameter value that both engines accept. */
export type SqlValue = string | number | null;

/** A row as the driver returns it: values by column name. */
export type Row = Record<string, SqlValue>;

/** Runs SQL. Statements are prepared once and kept, so the set of texts must be bounded. */
export type Sql = {
  /** All rows. The caller names their shape; the tests of each port check the columns on every engine. */
  all<Shape extends Row>(text: string, ...values: SqlValue[]): Promise<Shape[]>;
  /** Returns the number of rows changed. */
  run(text: string, ...values: SqlValue[]): Promise<number>;
};

/** Reads a database. Reads see everything committed before they began. */
export type Reader = Pick<Sql, "all"> & {
  dialect: Dialect;
  /**
   * All rows visible to one or more organizations. With row-level security, tables with an `org` show only rows of
   * these, whatever the query asks for; through `all`, such tables show nothing.
   */
  allOf<Shape extends Row>(org: string | readonly string[], text: string, ...values: SqlValue[]): Promise<Shape[]>;
  /** Like `allOf` for all organizations, including deleted ones. Only for housekeeping, never for a caller. */
  allOfEvery<Shape extends Row>(text: string, ...values: SqlValue[]): Promise<Shape[]>;
};

/**
 * Accesses many rows per call. All rows of a call have the same columns. Names of tables and columns come from the
 * store, never from callers.
 */
export type Rows = {
  /** The rows whose columns equal those of one of `keys`, in no particular order. */
  find<Shape extends Row>(table: string, columns: readonly string[], keys: readonly Row[]): Promise<Shape[]>;
  /**
   * Like `find`, and locks the rows until the transaction ends, in the order of the columns of `keys`, so that
   * transactions never deadlock.
   */
  lock<Shape extends Row>(table: string, columns: readonly string[], keys: readonly Row[]): Promise<Shape[]>;
  /** With `skip`, rows that conflict with an existing one on any key are left out. */
  insert(table: string, rows: readonly Row[], onConflict?: "skip"): Promise<void>;
  /** Finds each row by its `key` columns and sets its other columns. */
  update(table: string, key: readonly string[], rows: readonly Row[]): Promise<void>;
};

/** The handle of a transaction. */
export type Transaction = Sql & {
  dialect: Dialect;
  rows: Rows;
  /**
   * Allows the transaction to touch the rows of these organizations; before, it may touch none. Without row-level
   * security, it always may.
   */
  limitTo(orgs: readonly string[]): Promise<void>;
  /**
   * Takes writes that are already sent and whose results decide nothing: the commit does not wait for them, and the
   * transaction rejects if one of them fails.
   */
  lastly(writes: Promise<unknown>): void;
  /**
   * Says that the transaction takes a text out of the database: a moment after the commit, the files of an embedded
   * database no longer hold it. With PostgreSQL, its vacuum does that.
   */
  forget(): void;
};

/**
 * Collects the writes that a transaction takes with `lastly`. `settle` resolves when all are done; it rejects if any
 * failed, once all have ended.
 */
export function createLastWrites(): Pick<Transaction, "lastly"> & { settle(): Promise<void> } {
  const all: Promise<unknown>[] = [];
  return {
    lastly(writes) {
      writes.catch(() => undefined); // `settle` reports it, unless the transaction has failed already
      all.push(writes);
    },
    async settle() {
      await Promise.allSettled(all);
      await Promise.all(all);
    },
  };
}

/**
 * The SQLSTATE of an error of PostgreSQL, SQLite's extended result code, or Bun's code of a broken connection; empty for any
 * other error.
 */
export function errorCodeOf(error: unknown): string {
  if (!(error instanceof Error)) return "";
  if ("errno" in error && typeof error.errno === "string") return error.errno;
  return "code" in error && typeof error.code === "string" ? error.code : "";
}

/** Allows a transaction to touch the rows of all organizations, including deleted ones. */
export async function limitToAll(sql: Transaction): Promise<void> {
  const organizations = await sql.all<{ id: string }>("SELECT id FROM organization");
  await sql.limitTo(organizations.map(({ id }) => id));
}

/** Reports the progress of a migration, for the log. */
export type TellMigration = (message: string, facts: Record<string, string | number>) => void;

/** A connection for migrating, exclusive among the nodes that share the database, and without time limits. */
export type MigrationSession = Sql & {
  /**
   * Runs `work` in a transaction. If it has to wait for a lock, which blocks others, it is rolled back and run again
   * from the start a moment later.
   */
  transaction<Result>(work: (transaction: Transaction) => Promise<Result>): Promise<Result>;
  /**
   * Creates an index while others write to the table, unless it exists. `statement` is a `CREATE INDEX CONCURRENTLY`.
   */
  createIndex(statement: string): Promise<void>;
};

/** The turn of work that belongs to no single organization: creating organizations, the audit log, retention. */
export const unowned: Turn = { of: "" };

/** An open database. */
export type Driver = Sql &
  Reader & {
    /**
     * Runs `work` exclusively in a transaction: commits when it resolves, rolls back when it rejects. Transactions run
     * one at a time, in turns: `batch` for batches of sends, `of` an organization for its changes, and `unowned` by
     * default.
     */
    transaction<Result>(work: (transaction: Transaction) => Promise<Result>, turn?: Turn): Promise<Result>;
    /** Like `transaction`, but beside those if the engine can: it must not touch the same rows. */
    aside<Result>(work: (transaction: Transaction) => Promise<Result>, turn?: Turn): Promise<Result>;
    /** Runs `work` while no other node migrates the database; until then it waits and reports so. */
    migration<Result>(work: (session: MigrationSession) => Promise<Result>, tell: TellMigration): Promise<Result>;
    close(): Promise<void>;
  };
