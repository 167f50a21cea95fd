import { joinIds } from "../../lib/text/ids.ts";
import { postgresDialect } from "./dialect.ts";
import type { Row, Rows, Sql, SqlValue } from "./driver.ts";

/** Prepares a statement; the result runs it synchronously with values and returns its rows. */
export type Prepare = (text: string) => Run;

type Run = (...values: SqlValue[]) => Row[];

const nameOf = (column: string) => `"${column}"`;

/** Runs one statement per row: best where a call costs next to nothing, as in SQLite. */
export function createRowsOneByOne(prepare: Prepare): Rows {
  const assign = (columns: readonly string[]) => columns.map((column) => `${nameOf(column)} = ?`).join(", ");
  // With a bare `?`, SQLite prepares the statement anew for each value, to see whether a partial index fits.
  const match = (columns: readonly string[]) => columns.map((column) => `${nameOf(column)} = +?`).join(" AND ");
  const valuesOf = (row: Row, columns: readonly string[]) => columns.map((column) => row[column] ?? null);

  const findIn = keepLast((table, columns, key) =>
    prepare(`SELECT ${columns.map(nameOf).join(", ")} FROM "${table}" WHERE ${match(key)}`),
  );
  const updateIn = keepLast((table, columns, key) =>
    prepare(`UPDATE "${table}" SET ${assign(columns)} WHERE ${match(key)}`),
  );
  const insertInto = (onConflict: "skip" | undefined) =>
    keepLast((table, columns) => {
      const places = columns.map(() => "?").join(", ");
      return prepare(
        `INSERT INTO "${table}" (${columns.map(nameOf).join(", ")}) VALUES (${places})${endOf(onConflict)}`,
      );
    });
  const [insertNew, insertMissing] = [insertInto(undefined), insertInto("skip")];

  async function find<Shape extends Row>(table: string, columns: readonly string[], keys: readonly Row[]) {
    if (keys.length === 0) return [];
    const key = columnsOf(keys);
    const run = findIn(table, columns, key);
    // The caller names the shape, as everywhere in the driver.
    return keys.flatMap((values) => run(...valuesOf(values, key))) as Shape[];
  }

  return {
    find,
    lock: find, // a transaction has the database to itself
    async insert(table, rows, onConflict) {
      if (rows.length === 0) return;
      const columns = columnsOf(rows);
      const run = (onConflict === "skip" ? insertMissing : insertNew)(table, columns, []);
      for (const row of rows) run(...valuesOf(row, columns));
    },
    async update(table, key, rows) {
      if (rows.length === 0) return;
      const changed = columnsOf(rows).filter((column) => !key.includes(column));
      const run = updateIn(table, changed, key);
      for (const row of rows) run(...valuesOf(row, [...changed, ...key]));
    },
  };
}

type Statements = (table: string, columns: readonly string[], key: readonly string[]) => Run;

/** Keeps the last statement of each table: sends, which are most of all, always name the same columns. */
function keepLast(make: Statements): Statements {
  const kept = new Map<string, { columns: readonly string[]; key: readonly string[]; run: Run }>();
  return (table, columns, key) => {
    const last = kept.get(table);
    if (last !== undefined && areSame(last.columns, columns) && areSame(last.key, key)) return last.run;
    const run = make(table, columns, key);
    kept.set(table, { columns, key, run });
    return run;
  };
}

function areSame(some: readonly string[], others: readonly string[]): boolean {
  return some === others || (some.length === others.length && some.every((one, index) => one === others[index]));
}

// PostgreSQL expects a hundred rows of any JSON array, and for those reads the whole index of a table of up to some 10,000 rows,
// or of one that has grown since its plan was made.
const few = 8;

/**
 * Runs one statement for all rows, passed as JSON and typed by the table: best where each statement costs the server
 * work, as in PostgreSQL. What is found is looked up key by key; a few rows to lock or to update have a statement of their own,
 * which expects no more.
 */
export function createRowsInOne({ all, run }: Sql): Rows {
  // Bun encodes a parameter of type json as JSON once more, so it is passed as text.
  const given = (table: string) =>
    `json_populate_recordset(CAST(NULL AS "${table}"), CAST(CAST(? AS text) AS json)) AS given`;
  const wanted = (table: string, count: number) =>
    count > few ? given(table) : `(SELECT * FROM ${given(table)} LIMIT ${few}) AS given`;
  const isGiven = (key: readonly string[]) =>
    key.map((column) => `stored.${nameOf(column)} = given.${nameOf(column)}`).join(" AND ");

  const stored = (columns: readonly string[]) => columns.map((column) => `stored.${nameOf(column)}`).join(", ");
  const read = async <Shape extends Row>(text: string, keys: readonly Row[]) =>
    keys.length === 0 ? [] : await all<Shape>(text, JSON.stringify(keys));

  return {
    find(table, columns, keys) {
      const joined = postgresDialect.joinEach(nameOf(table), "stored", isGiven(columnsOf(keys)));
      return read(`SELECT ${stored(columns)} FROM ${given(table)} ${joined}`, keys);
    },
    lock(table, columns, keys) {
      const key = columnsOf(keys);
      const joined = `JOIN ${nameOf(table)} AS stored ON ${isGiven(key)}`;
      const text = `SELECT ${stored(columns)} FROM ${wanted(table, keys.length)} ${joined}`;
      return read(`${text} ORDER BY ${stored(key)} FOR UPDATE OF stored`, keys);
    },
    async insert(table, rows, onConflict) {
      if (rows.length === 0) return;
      const columns = columnsOf(rows).map(nameOf).join(", ");
      const text = `INSERT INTO "${table}" (${columns}) SELECT ${columns} FROM ${given(table)}${endOf(onConflict)}`;
      await run(text, JSON.stringify(rows));
    },
    async update(table, key, rows) {
      if (rows.length === 0) return;
      const changes = columnsOf(rows)
        .filter((column) => !key.includes(column))
        .map((column) => `${nameOf(column)} = given.${nameOf(column)}`);
      await run(
        `UPDATE "${table}" AS stored SET ${changes.join(", ")} FROM ${wanted(table, rows.length)} WHERE ${isGiven(key)}`,
        JSON.stringify(rows),
      );
    },
  };
}

function endOf(onConflict: "skip" | undefined): string {
  return onConflict === undefined ? "" : " ON CONFLICT DO NOTHING";
}

function columnsOf(rows: readonly Row[]): string[] {
  return Object.keys(rows[0] ?? {});
}

/** Rows without repeats, to be found once each. */
export function distinctRows<Key extends Row>(rows: readonly Key[]): Key[] {
  return [...new Map(rows.map((row) => [joinIds(...Object.values(row).map(String)), row])).values()];
}
