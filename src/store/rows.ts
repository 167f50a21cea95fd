import type { Row, Rows, Sql, SqlValue } from "./driver.ts";

/** Runs a statement with these values at once, and gives its rows. */
export type RunNow = (text: string, values: SqlValue[]) => Row[];

const nameOf = (column: string) => `"${column}"`;

/** One statement for each row: best where a call costs next to nothing, as in SQLite. */
export function createRowsOneByOne(run: RunNow): Rows {
  const equals = (columns: readonly string[], separator: string) =>
    columns.map((column) => `${nameOf(column)} = ?`).join(separator);
  const valuesOf = (row: Row, columns: readonly string[]) => columns.map((column) => row[column] ?? null);

  return {
    async find<Shape extends Row>(table: string, columns: readonly string[], keys: readonly Row[]) {
      const key = columnsOf(keys);
      const text = `SELECT ${columns.map(nameOf).join(", ")} FROM "${table}" WHERE ${equals(key, " AND ")}`;
      // The caller names the shape, as everywhere at the driver.
      return keys.flatMap((values) => run(text, valuesOf(values, key))) as Shape[];
    },
    async insert(table, rows, onConflict) {
      const columns = columnsOf(rows);
      const text = `INSERT INTO "${table}" (${columns.map(nameOf).join(", ")}) VALUES (${columns.map(() => "?").join(", ")})${endOf(onConflict)}`;
      for (const row of rows) run(text, valuesOf(row, columns));
    },
    async update(table, key, rows) {
      const changed = columnsOf(rows).filter((column) => !key.includes(column));
      const text = `UPDATE "${table}" SET ${equals(changed, ", ")} WHERE ${equals(key, " AND ")}`;
      for (const row of rows) run(text, valuesOf(row, [...changed, ...key]));
    },
  };
}

/**
 * One statement for all rows, which travel as JSON and take their types from the table: best where each statement costs
 * a server's work, as in PostgreSQL.
 */
export function createRowsInOne({ all, run }: Sql): Rows {
  // The runtime writes a parameter of type json as JSON once more, so it is handed over as text.
  const given = (table: string) =>
    `json_populate_recordset(CAST(NULL AS "${table}"), CAST(CAST(? AS text) AS json)) AS given`;
  const isGiven = (key: readonly string[]) =>
    key.map((column) => `stored.${nameOf(column)} = given.${nameOf(column)}`).join(" AND ");

  return {
    async find<Shape extends Row>(table: string, columns: readonly string[], keys: readonly Row[]) {
      if (keys.length === 0) return [];
      const found = columns.map((column) => `stored.${nameOf(column)}`).join(", ");
      return await all<Shape>(
        `SELECT ${found} FROM ${given(table)} JOIN "${table}" AS stored ON ${isGiven(columnsOf(keys))}`,
        JSON.stringify(keys),
      );
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
        `UPDATE "${table}" AS stored SET ${changes.join(", ")} FROM ${given(table)} WHERE ${isGiven(key)}`,
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
