/**
 * JSON text that is the same for equal values: members sorted by name, no white space. Two spellings of one request
 * have one canonical text, so its hash tells a retry from another request.
 */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(sortMembers(value)) ?? "null";
}

/** The value with all members sorted by name. What is sorted already, as nearly everything is, is not copied. */
function sortMembers(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) {
    const items = value.map(sortMembers);
    return items.some((item, index) => item !== value[index]) ? items : value;
  }
  const entries = Object.entries(value).map(([name, member]) => ({ name, member, sorted: sortMembers(member) }));
  const isSorted = entries.every(({ name, member, sorted }, index) => {
    const before = entries[index - 1];
    return sorted === member && (before === undefined || before.name < name);
  });
  if (isSorted) return value;
  entries.sort((left, right) => (left.name < right.name ? -1 : 1));
  return Object.fromEntries(entries.map(({ name, sorted }) => [name, sorted]));
}
