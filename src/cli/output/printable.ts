/**
 * Characters that must not reach a terminal: C0, DEL and C1, which control the terminal, the line and paragraph separators, and
 * the marks that reorder the text around them (CVE-2021-42574).
 */
const unprintable = /[\u0000-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]/g;

const escapeUnit = (unit: string) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;

/** Untrusted text as one line that cannot control a terminal. Unprintable characters become visible, as in `\u001b`. */
export function printableLine(text: string): string {
  return text.replace(unprintable, escapeUnit);
}

/** Untrusted text as lines that cannot control a terminal. Line breaks are kept, tabs become spaces. */
export function printableLines(text: string): string[] {
  return text.split(/\r?\n/).map((line) => printableLine(line.replaceAll("\t", "    ")));
}

/** JSON on one line that cannot control a terminal and has the same value. `JSON.stringify` alone does not escape DEL and C1. */
export function printableJson(value: unknown): string {
  return JSON.stringify(value).replace(unprintable, escapeUnit);
}
