import { statistics } from "../sqlite/statistics.ts";

/** Where the engines' SQL differs. Everything else is one text for both. */
export type Dialect = {
  /** Ends a SELECT that keeps its rows from being changed by others until the transaction ends. */
  forUpdate: string;
  /** A subquery of the texts of a JSON array: `… IN (${textsOf("?")})`. Its column is `value`. */
  textsOf(placeholder: string): string;
  /** Reads the database's clock, in milliseconds, as `now`. */
  readTime: string;
  /** The type of text columns, which are compared and sorted byte by byte. */
  text: string;
  /** Finds a row if there is a table of that name. */
  findTable: string;
  /** Keeps the Heralds before schema version 9 from migrating until the transaction ends. */
  lockMigrations: string | undefined;
  /** Whether others use the database while this node migrates it. */
  isShared: boolean;
  /** Whether tables can be told which rows to show (row-level security). */
  hasRowSecurity: boolean;
  /** Reads roughly how many `rows` the named table has; `undefined` where only counting would tell. */
  estimateRows: string | undefined;
  /** How many participants a step of a large change adds or removes: measured in docs/decisions/0035. */
  participantsOfStep: number;
  /** Statements that tell the planner what to expect, run after migrations; none where it finds out by itself. */
  statistics: readonly string[];
};

/** SQLite: one writer at a time, so a transaction needs no locks. */
export const sqliteDialect: Dialect = {
  forUpdate: "",
  textsOf: (placeholder) => `SELECT value FROM json_each(${placeholder})`,
  readTime: "SELECT CAST(unixepoch('subsec') * 1000 AS INTEGER) AS now", // this machine's: nobody else uses the file
  text: "TEXT",
  findTable: "SELECT 1 AS one FROM sqlite_master WHERE type = 'table' AND name = ?",
  lockMigrations: undefined,
  isShared: false,
  hasRowSecurity: false,
  estimateRows: undefined,
  participantsOfStep: 250,
  statistics,
};

/** PostgreSQL. */
export const postgresDialect: Dialect = {
  forUpdate: " FOR UPDATE",
  // The runtime writes a parameter of type json as JSON once more, so it is handed over as text.
  textsOf: (placeholder) =>
    `SELECT value FROM json_array_elements_text(CAST(CAST(${placeholder} AS text) AS json)) AS texts (value)`,
  readTime: "SELECT CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT) AS now",
  text: `TEXT COLLATE "C"`,
  findTable: "SELECT 1 AS one WHERE to_regclass(CAST(? AS text)) IS NOT NULL",
  lockMigrations: "SELECT pg_advisory_xact_lock(4715081)",
  isShared: true,
  hasRowSecurity: true,
  participantsOfStep: 100,
  estimateRows: "SELECT CAST(reltuples AS BIGINT) AS rows FROM pg_class WHERE oid = to_regclass(CAST(? AS text))",
  statistics: [],
};
