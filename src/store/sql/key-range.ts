import type { SqlValue } from "./driver.ts";

/** A condition and its values. */
export type Condition = { where: string; values: SqlValue[] };

/**
 * The rows whose key lies after one key, if there is one, up to another. What both have in common at their beginning is compared by
 * itself: PostgreSQL goes on with the scan of an index until the first column of a comparison of rows changes, which for the
 * events of one organization is its last.
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
