import type { Row, Sql, SqlValue } from "../sql/driver.ts";

/** Rows of a table that a condition with its values picks, in the order of `key`. */
export type Ordered = { table: string; key: readonly string[]; where: string; values: SqlValue[] };

/** The key of the last of the first `limit` rows; `undefined` when there are none. */
export async function lastOfFirst(sql: Sql, rows: Ordered, limit: number): Promise<SqlValue[] | undefined> {
  const { table, key, where, values } = rows;
  const columns = key.join(", ");
  const descending = key.map((column) => `${column} DESC`).join(", ");
  const [row] = await sql.all<Row>(
    `SELECT * FROM (SELECT ${columns} FROM ${table} WHERE ${where} ORDER BY ${columns} LIMIT ?) AS first
     ORDER BY ${descending} LIMIT 1`,
    ...values,
    limit,
  );
  return row && Object.values(row);
}

/**
 * Deletes the first `limit` rows and gives their number. It deletes a range: both engines find that on the index of the key,
 * whereas PostgreSQL may read the whole table for `key IN (…)`.
 */
export async function removeFirst(sql: Sql, rows: Ordered, limit: number): Promise<number> {
  const last = await lastOfFirst(sql, rows, limit);
  return last === undefined ? 0 : await sql.run(deletionOf(rows), ...rows.values, ...last);
}

/** The SQL that deletes rows up to a key; its values are those of the rows, then the key's. */
export function deletionOf({ table, key, where }: Ordered): string {
  return `DELETE FROM ${table} WHERE ${where} AND (${key.join(", ")}) <= (${key.map(() => "?").join(", ")})`;
}
