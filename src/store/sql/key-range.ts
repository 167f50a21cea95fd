import type { Row, Sql, SqlValue } from "./driver.ts";

/** The rows of a table that match a condition, in the order of `key`. */
export type Ordered = { table: string; key: readonly string[]; where: string; values: SqlValue[] };

/**
 * The rows whose key lies after one key, if given, up to another. Columns with equal values in both are compared
 * separately: PostgreSQL bounds an index scan only by the first column of a row comparison, and within one
 * organization's events that column is constant.
 */
export function between(
  key: readonly string[],
  after: readonly SqlValue[] | undefined,
  upTo: readonly SqlValue[],
): Pick<Ordered, "where" | "values"> {
  let common = 0;
  while (after !== undefined && common < key.length - 1 && after[common] === upTo[common]) common++;
  const rest = key.slice(common);
  const compared = `(${rest.join(", ")})`;
  const places = `(${rest.map(() => "?").join(", ")})`;
  const conditions = [
    ...key.slice(0, common).map((column) => `${column} = ?`),
    ...(after === undefined ? [] : [`${compared} > ${places}`]),
    `${compared} <= ${places}`,
  ];
  return {
    where: conditions.join(" AND "),
    values: [...upTo.slice(0, common), ...(after ?? []).slice(common), ...upTo.slice(common)],
  };
}

/** The key of the last of the first `limit` rows; `undefined` if there are none. */
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
 * Deletes the first `limit` rows and returns their number. Deletes by range, which both engines find by the index of
 * the key; for `key IN (…)`, PostgreSQL may scan the whole table.
 */
export async function removeFirst(sql: Sql, rows: Ordered, limit: number): Promise<number> {
  const last = await lastOfFirst(sql, rows, limit);
  return last === undefined ? 0 : await sql.run(deletionOf(rows), ...rows.values, ...last);
}

/** The SQL that deletes rows up to a key; its values are those of the condition, then the key's. */
export function deletionOf({ table, key, where }: Ordered): string {
  return `DELETE FROM ${table} WHERE ${where} AND (${key.join(", ")}) <= (${key.map(() => "?").join(", ")})`;
}
