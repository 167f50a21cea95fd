import { isObject } from "./json-values.ts";

/**
 * JSON text that is equal for equal values: members sorted by name, without white space. All spellings of a request
 * have the same canonical text, so that its hash distinguishes a retry from another request.
 */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(isSorted(value) ? value : sortMembers(value)) ?? "null";
}

/** Almost all values are sorted already and need no copy. */
function isSorted(value: unknown): boolean {
  if (Array.isArray(value)) return value.every(isSorted);
  if (!isObject(value)) return true;
  let before: string | undefined;
  for (const name of Object.keys(value)) {
    if ((before !== undefined && before > name) || !isSorted(value[name])) return false;
    before = name;
  }
  return true;
}

/** Copies a value with all members sorted by name. */
function sortMembers(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(sortMembers);
  const entries = Object.entries(value).sort(([left], [right]) => (left < right ? -1 : 1));
  return Object.fromEntries(entries.map(([name, member]) => [name, sortMembers(member)]));
}
