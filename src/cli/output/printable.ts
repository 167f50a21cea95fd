/**
 * What must not reach a terminal as it is: C0, DEL and C1 (they drive the terminal), the line and paragraph separators,
 * and the marks that reorder the text around them (CVE-2021-42574).
 */
const unprintable = /[\u0000-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]/g;

const escapeUnit = (unit: string) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;

/** Foreign text as one line that cannot drive a terminal: what is not printable becomes visible, `\u001b`. */
export function printableLine(text: string): string {
  return text.replace(unprintable, escapeUnit);
}

/** Foreign text as lines that cannot drive a terminal. Line breaks are kept, tabs become spaces. */
export function printableLines(text: string): string[] {
  return text.split(/\r?\n/).map((line) => printableLine(line.replaceAll("\t", "    ")));
}

/** JSON in one line that cannot drive a terminal and has the same value: `JSON.stringify` leaves DEL and C1 as they are. */
export function printableJson(value: unknown): string {
  return JSON.stringify(value).replace(unprintable, escapeUnit);
}
