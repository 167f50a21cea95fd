import { isStorableText } from "../text/text.ts";

/** Something that parsing would alter, at the place named by `pointer` (RFC 6901). */
export type JsonProblem = { pointer: string; detail: string };

/** JSON text read without altering it, or why that is impossible. */
export type JsonReading =
  | { outcome: "value"; value: unknown }
  | { outcome: "malformed"; detail: string }
  | { outcome: "altered"; problems: JsonProblem[] };

type Level = { keys: Keys | undefined; key: string; index: number; expectsKey: boolean };
/** The names of an object's members so far: a few are searched faster than they are hashed. */
export type Keys = { few: string[]; all: Set<string> | undefined };

/** The maximum number of problems reported. */
export const maxProblems = 10;

const fewKeys = 8;
const numberToken = /[-+.\deE]+/y;

/** The UTF-16 units of JSON's structural characters. */
export const code = {
  quote: 0x22,
  comma: 0x2c,
  colon: 0x3a,
  minus: 0x2d,
  zero: 0x30,
  nine: 0x39,
  openArray: 0x5b,
  backslash: 0x5c,
  closeArray: 0x5d,
  open: 0x7b,
  close: 0x7d,
};

/** Scans JSON text, then parses it. Refuses values that parsing would alter and nesting beyond `maxDepth`. */
export function readJson(text: string, maxDepth: number): JsonReading {
  const problems = scanJson(text, maxDepth);
  const isTooDeep = problems[0]?.pointer === "" && problems.length === 1;
  if (isTooDeep) return { outcome: "altered", problems };
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return { outcome: "malformed", detail: error instanceof Error ? error.message : "not JSON" };
  }
  return problems.length > 0 ? { outcome: "altered", problems } : { outcome: "value", value };
}

/**
 * Scans JSON text once before it is parsed, for what `JSON.parse` would accept but alter, or what would exhaust the
 * stack. Reports nesting beyond `maxDepth` (alone, stopping there), duplicate members, numbers that would change,
 * U+0000 and lone surrogates; at most ten problems. The grammar is left to `JSON.parse`: for text that is not JSON, the
 * result is arbitrary but found in linear time.
 */
export function scanJson(text: string, maxDepth: number): JsonProblem[] {
  const problems: JsonProblem[] = [];
  const levels: Level[] = [];
  let level: Level | undefined;
  let nextBackslash = -1;
  let index = 0;

  const report = (detail: string) => {
    if (problems.length < maxProblems) problems.push({ pointer: pointerTo(levels), detail });
  };

  while (index < text.length) {
    const unit = text.charCodeAt(index);
    if (unit === code.quote) {
      const end = endOfString(text, index);
      if (nextBackslash < index) nextBackslash = positionOf(text, "\\", index);
      const isKey = level?.expectsKey === true;
      const value =
        nextBackslash < end ? unescapeString(text.slice(index, end + 1)) : isKey ? text.slice(index + 1, end) : "";
      if (isKey && level !== undefined) {
        level.key = value;
        level.expectsKey = false;
        if (level.keys !== undefined && !addKey(level.keys, value)) report("this member appears twice; send it once");
      }
      if (nextBackslash < end && !isStorableText(value)) report("text must not contain U+0000 or a lone surrogate");
      index = end + 1;
    } else if (unit === code.open || unit === code.openArray) {
      const isObject = unit === code.open;
      level = { keys: isObject ? noKeys() : undefined, key: "", index: 0, expectsKey: isObject };
      levels.push(level);
      if (levels.length > maxDepth) return [tooDeep(maxDepth)];
      index++;
    } else if (unit === code.close || unit === code.closeArray) {
      levels.pop();
      level = levels.at(-1);
      index++;
    } else if (unit === code.comma) {
      if (level?.keys !== undefined) level.expectsKey = true;
      else if (level !== undefined) level.index++;
      index++;
    } else if (unit === code.minus || (unit >= code.zero && unit <= code.nine)) {
      numberToken.lastIndex = index;
      const token = numberToken.exec(text)?.[0] ?? "";
      if (wouldChange(token)) report("this number would lose precision; send it as a string");
      index += token.length;
    } else {
      index++;
    }
  }
  return problems;
}

/** The problem reported for JSON nested too deep. */
export function tooDeep(maxDepth: number): JsonProblem {
  return { pointer: "", detail: `JSON may be nested at most ${maxDepth} levels deep` };
}

/** Creates an empty set of names. */
export function noKeys(): Keys {
  return { few: [], all: undefined };
}

/** Adds a name; false if it was there already. */
export function addKey(keys: Keys, key: string): boolean {
  if (keys.all === undefined) {
    if (keys.few.includes(key)) return false;
    if (keys.few.length < fewKeys) return keys.few.push(key) > 0;
    keys.all = new Set(keys.few);
  }
  const { size } = keys.all;
  return keys.all.add(key).size > size;
}

function positionOf(text: string, wanted: string, from: number): number {
  const position = text.indexOf(wanted, from);
  return position === -1 ? text.length : position;
}

/** The index of the quote that ends the string begun at `start`, or the text's length if there is none. */
export function endOfString(text: string, start: number): number {
  let end = start;
  do {
    end = positionOf(text, '"', end + 1);
  } while (end < text.length && isEscaped(text, end));
  return end;
}

function isEscaped(text: string, index: number): boolean {
  let first = index;
  while (text.charCodeAt(first - 1) === code.backslash) first--;
  return (index - first) % 2 === 1;
}

function unescapeString(literal: string): string {
  try {
    return String(JSON.parse(literal));
  } catch {
    return literal; // not JSON, as the parser will report
  }
}

/**
 * Whether `JSON.parse` turns `token` into a value that prints as a different number, or into an integer beyond ±2^53.
 */
export function wouldChange(token: string): boolean {
  if (token.length <= 15 && /^-?\d+$/.test(token)) return false;
  const value = Number(token);
  if (Number.isNaN(value)) return false; // not JSON, as the parser will report
  if (!Number.isFinite(value)) return true;
  if (/^-?\d+$/.test(token) && Math.abs(value) > 2 ** 53) return true;
  return decimal(token) !== decimal(String(value));
}

/** Normalizes a decimal number: its digits without outer zeros, and its exponent. */
function decimal(token: string): string {
  const [mantissa = "", exponent = "0"] = token.toLowerCase().split("e");
  const [whole = "", fraction = ""] = mantissa.replace(/^[-+]/, "").split(".");
  const digits = trimZeros(whole + fraction);
  if (digits.text === "") return "0";
  if (exponent.length > 20) return "out of range";
  const sign = mantissa.startsWith("-") ? "-" : "";
  return `${sign}${digits.text}e${BigInt(exponent.replace("+", "")) - BigInt(fraction.length) + BigInt(digits.cutAtEnd)}`;
}

function trimZeros(digits: string): { text: string; cutAtEnd: number } {
  let start = 0;
  while (digits.charCodeAt(start) === code.zero) start++;
  let end = digits.length;
  while (end > start && digits.charCodeAt(end - 1) === code.zero) end--;
  return { text: digits.slice(start, end), cutAtEnd: digits.length - end };
}

function pointerTo(levels: Level[]): string {
  return jsonPointer(levels.map((level) => (level.keys === undefined ? level.index : level.key)));
}

/** The JSON Pointer (RFC 6901) of a path. */
export function jsonPointer(path: readonly PropertyKey[]): string {
  return path.map((step) => `/${String(step).replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");
}
