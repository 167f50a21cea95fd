import type { Dialect } from "../sql/dialect.ts";
import type { SqlValue } from "../sql/driver.ts";

/**
 * The SQL that tells whether a stored JSON array of ids has one: 1 or 0. It searches the text, which takes a thirtieth of what reading
 * the array does. An id is between quotes there, the first one after a comma or the bracket; only an id that is a comma itself looks
 * like what is between two others. Placeholders: `memberValues`.
 */
export function hasMember({ position, textsIn }: Dialect, column: string): string {
  return `CASE WHEN ${position}(',' || substr(${column}, 2), ?) = 0 THEN 0 WHEN CAST(? AS text) <> ',' THEN 1
    WHEN EXISTS (SELECT 1 FROM (${textsIn(column)}) AS members WHERE value = ',') THEN 1 ELSE 0 END`;
}

/** The values of `hasMember`. */
export function memberValues(uid: string): SqlValue[] {
  return [`,${JSON.stringify(uid)}`, uid];
}
