/**
 * JSON text that is the same for equal values: members sorted by name, no white space. Two spellings of one request
 * have one canonical text, so its hash tells a retry from another request.
 */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(isSorted(value) ? value : sortMembers(value)) ?? "null";
}

/** Nearly everything is, and need not be copied. */
function isSorted(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return true;
  if (Array.isArray(value)) return value.every(isSorted);
  let before: string | undefined;
  for (const [name, member] of Object.entries(value)) {
    if ((before !== undefined && before > name) || !isSorted(member)) return false;
    before = name;
  }
  return true;
}

/** A copy with all members sorted by name. */
function sortMembers(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(sortMembers);
  const entries = Object.entries(value).sort(([left], [right]) => (left < right ? -1 : 1));
  return Object.fromEntries(entries.map(([name, member]) => [name, sortMembers(member)]));
}
