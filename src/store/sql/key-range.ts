import type { SqlValue } from "./driver.ts";

/** An SQL condition and its values. */
export type Condition = { where: string; values: SqlValue[] };

/**
 * The rows whose key lies after one key, if given, up to another. Columns with equal values in both are compared
 * separately: PostgreSQL bounds an index scan only by the first column of a row comparison, and within one
 * organization's events that column is constant.
 */
export function between(
  key: readonly string[],
  after: readonly SqlValue[] | undefined,
  upTo: readonly SqlValue[],
): Condition {
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
