import type { Turn } from "../../lib/queues/turns.ts";
import type { Dialect } from "./dialect.ts";

/** A value that both engines take as a parameter. */
export type SqlValue = string | number | null;

/** A row as the driver returns it: columns by name. */
export type Row = Record<string, SqlValue>;

/** Runs SQL. Statements are prepared once and kept, so texts must come from a bounded set. */
export type Sql = {
  /** All rows. The caller names their shape; columns are checked by the tests of each port on every engine. */
  all<Shape extends Row>(text: string, ...values: SqlValue[]): Promise<Shape[]>;
  /** How many rows were changed. */
  run(text: string, ...values: SqlValue[]): Promise<number>;
};

/** What reads of a database need. They see what was committed before they began. */
export type Reader = Pick<Sql, "all"> & {
  dialect: Dialect;
  /**
   * All rows that one organization, or several, may see. With row-level security, tables with an `org` show their own rows and no
   * others, whatever the text asks for; to `all` such a table shows nothing.
   */
  allOf<Shape extends Row>(org: string | readonly string[], text: string, ...values: SqlValue[]): Promise<Shape[]>;
};

/**
 * Many rows in one call. All rows of a call have the same columns. Names of tables and columns are the store's own, never
 * a caller's.
 */
export type Rows = {
  /** The rows whose columns equal those of one of `keys`, in no order. */
  find<Shape extends Row>(table: string, columns: readonly string[], keys: readonly Row[]): Promise<Shape[]>;
  /** The same, and nobody else changes these rows until the transaction ends. Locked in the order of `keys`' columns, so that no two wait for each other. */
  lock<Shape extends Row>(table: string, columns: readonly string[], keys: readonly Row[]): Promise<Shape[]>;
  /** With `skip`, rows that are there already, by any key of the table, stay as they are. */
  insert(table: string, rows: readonly Row[], onConflict?: "skip"): Promise<void>;
  /** Finds each row by its `key` columns, and sets its other columns. */
  update(table: string, key: readonly string[], rows: readonly Row[]): Promise<void>;
};

/** What a transaction is done with. */
export type Transaction = Sql & {
  rows: Rows;
  /** From now on the transaction may touch the rows of these organizations; before, of none. Without row-level security it always may. */
  limitTo(orgs: readonly string[]): Promise<void>;
};

/** Tells how a migration goes, for the log. */
export type TellMigration = (message: string, facts: Record<string, string | number>) => void;

/** A connection that migrates: alone among all nodes that share the database, and with all the time that it takes. */
export type MigrationSession = Sql & {
  /**
   * Runs `work` in a transaction. When it has to wait for a lock, and so holds up others, it is given up, and run again from the
   * start a moment later.
   */
  transaction<Result>(work: (transaction: Transaction) => Promise<Result>): Promise<Result>;
  /** Makes an index while others write to the table, unless it is there. `statement` is a `CREATE INDEX CONCURRENTLY`. */
  createIndex(statement: string): Promise<void>;
};

/** The turn of what is done for no organization in particular: newcomers, the audit log, retention. */
export const house: Turn = { of: "" };

/** One database. */
export type Driver = Sql &
  Reader & {
    /**
     * Runs `work` alone in a transaction: commits when it resolves, rolls back when it rejects. Transactions run one after another, in
     * turns (without one, that of the `house`): batches of sends are `shared`, what one organization changes is `of` it.
     */
    transaction<Result>(work: (transaction: Transaction) => Promise<Result>, turn?: Turn): Promise<Result>;
    /** The same beside those, where the engine can: what it does must not meet what they do. */
    aside<Result>(work: (transaction: Transaction) => Promise<Result>, turn?: Turn): Promise<Result>;
    /** Runs `work` while nobody else migrates the database; until then it waits, and tells so. */
    migration<Result>(work: (session: MigrationSession) => Promise<Result>, tell: TellMigration): Promise<Result>;
    close(): Promise<void>;
  };
