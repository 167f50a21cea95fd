import { rowsOfStep } from "../../lib/queues/steps.ts";
import { statistics } from "../sqlite/statistics.ts";

/** What a column of given tuples is: a whole number or a text. */
export type TupleType = "text" | "number";

/** The differences between the engines' SQL; all other SQL is shared. */
export type Dialect = {
  /** Ends a SELECT that locks its rows until the transaction ends. */
  forUpdate: string;
  /** Ends a SELECT that keeps its rows from being changed until the transaction ends, but lets others do the same. */
  forShare: string;
  /** Follows `forShare` to leave out rows that others have locked, instead of waiting for them. */
  skipLocked: string;
  /** A subquery over the texts of a JSON array, its parameter, as in `… IN (${givenTexts})`. Its column is `value`. */
  givenTexts: string;
  /** The same over a column that holds a JSON array of texts. */
  textsIn(column: string): string;
  /** Where a text has a part, its second argument, beginning at 1; 0 if nowhere. */
  position: "instr" | "strpos";
  /** The same as `givenTexts` over whole numbers. */
  givenNumbers: string;
  /**
   * A subquery over the arrays of a JSON array, its parameter, as in `… FROM (${givenTuples("text", "number")}) AS asked`. Its
   * columns are `v0`, `v1` and so on. A condition that is to use an index compares them as they are: see `postgresDialect`.
   */
  givenTuples(...types: TupleType[]): string;
  /**
   * Joins the rows of a table, as in `joinEach("delivery", "d", "d.cid = asked.v0")`, that an index finds for each row before it,
   * also where the planner expects so many of those that it would rather read the whole table once.
   */
  joinEach(table: string, alias: string, condition: string): string;
  /** Joins the numbers of all rows to one text, with commas; NULL without rows. */
  joined(number: string): string;
  /**
   * Names the index to use, after the table, for a planner that would choose a worse one: SQLite prefers a primary key to
   * a partial index with fewer columns. Empty for one that knows the sizes of indexes.
   */
  indexedBy(index: string): string;
  /** The time of the database's clock, in milliseconds since the Unix epoch. */
  now: string;
  /** The type of text columns that compare and sort byte by byte. */
  text: string;
  /** Finds a row if a table of that name exists. */
  findTable: string;
  /** Keeps versions before schema version 9 from migrating until the transaction ends. */
  lockMigrations: string | undefined;
  /** Whether other nodes use the database while this one migrates it. */
  isShared: boolean;
  /** Whether tables support row-level security. */
  hasRowSecurity: boolean;
  /** Estimates the number of `rows` of the named table; `undefined` if that would require counting. */
  estimateRows: string | undefined;
  /** How many participants one step of a large change adds or removes; see docs/decisions/store/0016. */
  participantsOfStep: number;
  /**
   * How many rows one part of an import may write, so that it holds the writer for few milliseconds: while nobody sends, and
   * beside sends; measured in docs/decisions/0047.
   */
  rowsOfImport: number;
  /** Statements, run after migrations, that give the planner statistics; none if it collects them itself. */
  statistics: readonly string[];
};

/** SQLite: a single writer, so transactions need no row locks. */
export const sqliteDialect: Dialect = {
  forUpdate: "",
  forShare: "",
  skipLocked: "",
  givenTexts: "SELECT value FROM json_each(?)",
  textsIn: (column) => `SELECT value FROM json_each(${column})`,
  position: "instr",
  givenNumbers: "SELECT CAST(value AS BIGINT) AS value FROM json_each(?)",
  givenTuples: (...types) =>
    `SELECT ${columnsOf(types, (index) => `json_extract(value, '$[${index}]')`)} FROM json_each(?)`,
  joinEach: (table, alias, condition) => `JOIN ${table} ${alias} ON ${condition}`,
  joined: (number) => `group_concat(${number})`,
  indexedBy: (index) => ` INDEXED BY ${index}`,
  now: "CAST(unixepoch('subsec') * 1000 AS INTEGER)", // this machine's clock: nobody else uses the file
  text: "TEXT",
  findTable: "SELECT 1 AS one FROM sqlite_master WHERE type = 'table' AND name = ?",
  lockMigrations: undefined,
  isShared: false,
  hasRowSecurity: false,
  estimateRows: undefined,
  participantsOfStep: rowsOfStep,
  rowsOfImport: rowsOfStep / 2,
  statistics,
};

/** PostgreSQL. */
export const postgresDialect: Dialect = {
  forUpdate: " FOR UPDATE",
  forShare: " FOR SHARE",
  skipLocked: " SKIP LOCKED",
  // Bun encodes a parameter of type json as JSON once more, so it is passed as text.
  givenTexts: "SELECT value FROM json_array_elements_text(CAST(CAST(? AS text) AS json)) AS texts (value)",
  textsIn: (column) => `SELECT value FROM json_array_elements_text(CAST(${column} AS json)) AS texts (value)`,
  position: "strpos",
  // OFFSET 0 keeps a subquery apart. What it computes would else be part of the condition that compares it, which row-level security
  // lets no index use: such functions are not leakproof.
  givenNumbers:
    "SELECT CAST(value AS BIGINT) AS value FROM json_array_elements_text(CAST(CAST(? AS text) AS json)) AS texts (value) OFFSET 0",
  givenTuples: (...types) =>
    `SELECT ${columnsOf(types, (index) => `value ->> ${index}`)}
      FROM json_array_elements(CAST(CAST(? AS text) AS json)) AS tuples (value) OFFSET 0`,
  joinEach: (table, alias, condition) =>
    `CROSS JOIN LATERAL (SELECT * FROM ${table} ${alias} WHERE ${condition} OFFSET 0) AS ${alias}`,
  joined: (number) => `string_agg(CAST(${number} AS text), ',')`,
  indexedBy: () => "",
  now: "CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT)",
  text: `TEXT COLLATE "C"`,
  findTable: "SELECT 1 AS one WHERE to_regclass(CAST(? AS text)) IS NOT NULL",
  lockMigrations: "SELECT pg_advisory_xact_lock(4715081)",
  isShared: true,
  hasRowSecurity: true,
  participantsOfStep: 100,
  rowsOfImport: rowsOfStep,
  estimateRows: "SELECT CAST(reltuples AS BIGINT) AS rows FROM pg_class WHERE oid = to_regclass(CAST(? AS text))",
  statistics: [],
};

function columnsOf(types: readonly TupleType[], textOf: (index: number) => string): string {
  const columns = types.map((type, index) => (type === "text" ? textOf(index) : `CAST(${textOf(index)} AS BIGINT)`));
  return columns.map((column, index) => `${column} AS v${index}`).join(", ");
}
