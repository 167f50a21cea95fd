/** The values of a file of `NAME=value` lines, by name, and the number of the first line that is something else. */
export type Assignments = { values: Record<string, string>; faultyLine: number | undefined };

/** Reads `NAME=value` lines. Ignores empty lines and those that begin with `#`; quotes around a value are optional. */
export function readAssignments(text: string, name: RegExp): Assignments {
  const values: Record<string, string> = {};
  for (const [index, line] of text.split(/\r?\n/).entries()) {
    if (/^\s*(#|$)/.test(line)) continue;
    const [, given, value] = /^\s*([^\s=]+)\s*=\s*(.*?)\s*$/.exec(line) ?? [];
    if (given === undefined || value === undefined || !name.test(given)) return { values, faultyLine: index + 1 };
    values[given] = value.replace(/^(["'])(.*)\1$/, "$2");
  }
  return { values, faultyLine: undefined };
}
