import { beginSlice, stepsPerLook } from "../event-loop/slice.ts";
import { isStorableText } from "../text/text.ts";
import {
  addKey,
  code,
  endOfString,
  type JsonProblem,
  type JsonReading,
  jsonPointer,
  type Keys,
  maxProblems,
  noKeys,
  tooDeep,
  wouldChange,
} from "./json-text.ts";
import { parseJson } from "./json-values.ts";

type Members = Record<string, unknown>;
/**
 * An array or object that is still open; for an object, also its names so far and the name of the member being read.
 */
type Level = { items: unknown[]; names?: undefined } | { members: Members; names: Keys; name: string };
/** What may come next. After `first …`, the array or object may also end. */
type Expected = "value" | "first value" | "name" | "first name" | "end";
type Progress = "on" | "read" | "malformed" | "too deep";
type Read = { readonly index: number; readonly value: unknown; readonly problems: JsonProblem[]; readSome(): Progress };

const plainText = /"[^"\\\u0000-\u001f]*"/y;
const numberOrWord = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?|true|false|null/y;
const space = /[ \t\n\r]*/y;

/**
 * Like `readJson`, but in slices of about a millisecond with a `turn` in between: `JSON.parse` takes 10 to 40 ms per
 * megabyte, during which nothing else runs. Strings are made by `JSON.parse`, as slices would keep the whole text in
 * memory.
 */
export async function readJsonInTurns(text: string, maxDepth: number, turn: () => Promise<void>): Promise<JsonReading> {
  const reader = createReader(text, maxDepth);
  for (;;) {
    const progress = reader.readSome();
    if (progress === "too deep") return { outcome: "altered", problems: [tooDeep(maxDepth)] };
    if (progress === "malformed") return { outcome: "malformed", detail: `unexpected text at ${reader.index}` };
    if (progress === "read") {
      const { value, problems } = reader;
      return problems.length > 0 ? { outcome: "altered", problems } : { outcome: "value", value };
    }
    await turn();
  }
}

/** Reads a text to its end, or to the place where it is not JSON. */
function createReader(text: string, maxDepth: number): Read {
  const levels: Level[] = [];
  const problems: JsonProblem[] = [];
  let expected: Expected = "value";
  let value: unknown;
  let index = 0;
  let steps = 1; // of the last step: several if it read several texts

  function report(detail: string): void {
    if (problems.length >= maxProblems) return;
    const path = levels.map((level) => (level.names === undefined ? level.items.length : level.name));
    problems.push({ pointer: jsonPointer(path), detail });
  }

  function endOfSpace(from: number): number {
    space.lastIndex = from;
    space.test(text);
    return space.lastIndex;
  }

  function take(what: unknown): Progress {
    const level = levels.at(-1);
    if (level === undefined) value = what;
    else if (level.names === undefined) level.items.push(what);
    else setMember(level.members, level.name, what);
    expected = "end";
    return "on";
  }

  /** Reads the string at `index`, up to its end; `undefined` if it is not JSON. */
  function readText(): string | undefined {
    plainText.lastIndex = index;
    const end = plainText.test(text) ? plainText.lastIndex : endOfString(text, index) + 1;
    const read = parseJson(text.slice(index, end));
    if (typeof read !== "string") return undefined;
    index = end;
    return read;
  }

  function checkText(read: string): void {
    if (!isStorableText(read)) report("text must not contain U+0000 or a lone surrogate");
  }

  /**
   * Reads consecutive strings of an array without escapes, except the array's last: `JSON.parse` is fastest with many
   * at once.
   */
  function takeTexts(items: unknown[]): void {
    const start = index;
    let end = start;
    let next = start;
    for (let taken = 0; taken < stepsPerLook && text.charCodeAt(next) === code.quote; taken++) {
      plainText.lastIndex = next;
      if (!plainText.test(text)) break;
      const behind = plainText.lastIndex;
      const comma = endOfSpace(behind);
      if (text.charCodeAt(comma) !== code.comma) break;
      end = behind;
      next = endOfSpace(comma + 1);
    }
    if (end === start) return;
    const read: unknown[] = JSON.parse(`[${text.slice(start, end)}]`);
    for (const each of read) items.push(each);
    steps = read.length;
    index = next;
    expected = "value";
  }

  function open(unit: number): Progress {
    if (levels.length >= maxDepth) return "too deep";
    const isObject = unit === code.open;
    levels.push(isObject ? { members: {}, names: noKeys(), name: "" } : { items: [] });
    expected = isObject ? "first name" : "first value";
    index++;
    return "on";
  }

  function close(): Progress {
    const level = levels.pop();
    index++;
    return take(level?.names === undefined ? level?.items : level.members);
  }

  function readEnd(unit: number): Progress {
    const level = levels.at(-1);
    if (level === undefined) return index === text.length ? "read" : "malformed";
    if (unit === (level.names === undefined ? code.closeArray : code.close)) return close();
    if (unit !== code.comma) return "malformed";
    expected = level.names === undefined ? "value" : "name";
    index++;
    return "on";
  }

  function readName(unit: number): Progress {
    if (expected === "first name" && unit === code.close) return close();
    const level = levels.at(-1);
    const name = unit === code.quote ? readText() : undefined;
    index = endOfSpace(index);
    if (name === undefined || level?.names === undefined || text.charCodeAt(index) !== code.colon) return "malformed";
    level.name = name;
    if (!addKey(level.names, name)) report("this member appears twice; send it once");
    checkText(name);
    expected = "value";
    index++;
    return "on";
  }

  function readValue(unit: number): Progress {
    if (unit === code.open || unit === code.openArray) return open(unit);
    if (unit === code.closeArray && expected === "first value") return close();
    if (unit !== code.quote) return readNumberOrWord();
    const level = levels.at(-1);
    if (level?.names === undefined && level !== undefined) {
      const before = index;
      takeTexts(level.items);
      if (index > before) return "on";
    }
    const read = readText();
    if (read === undefined) return "malformed";
    checkText(read);
    return take(read);
  }

  function readNumberOrWord(): Progress {
    numberOrWord.lastIndex = index;
    const token = numberOrWord.exec(text)?.[0];
    if (token === undefined) return "malformed";
    index += token.length;
    if (wouldChange(token)) report("this number would lose precision; send it as a string");
    return take(JSON.parse(token));
  }

  function step(): Progress {
    index = endOfSpace(index);
    const unit = text.charCodeAt(index);
    if (expected === "end") return readEnd(unit);
    return expected === "name" || expected === "first name" ? readName(unit) : readValue(unit);
  }

  return {
    get index() {
      return index;
    },
    get value() {
      return value;
    },
    problems,
    readSome() {
      const isOver = beginSlice();
      for (;;) {
        steps = 1;
        const progress = step();
        if (progress !== "on" || isOver(steps)) return progress;
      }
    },
  };
}

/** Sets a member like `JSON.parse`: `__proto__` is an ordinary name. */
function setMember(members: Members, name: string, value: unknown): void {
  if (name !== "__proto__") members[name] = value;
  else Object.defineProperty(members, name, { value, writable: true, enumerable: true, configurable: true });
}
