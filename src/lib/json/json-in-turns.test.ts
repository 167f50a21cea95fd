import { expect, test } from "bun:test";
import fc from "fast-check";
import { readJsonInTurns } from "./json-in-turns.ts";
import { readJson } from "./json-text.ts";

const maxDepth = 8;
const now = () => Promise.resolve();

const text = fc.oneof(
  fc.string(),
  fc.constantFrom("", "a", "b", "__proto__", "\u0000", "\ud800", "\u001f", "\\", '"', "😀", "/"),
);
const scalar = fc.oneof(text, fc.double(), fc.maxSafeInteger(), fc.constantFrom(null, true, false, -0, 1e21));
const { value: anyValue } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 5, withCrossShrink: true },
    scalar,
    fc.array(tie("value"), { maxLength: 6 }),
    fc.array(text, { maxLength: 6 }),
    fc.dictionary(text, tie("value"), { maxKeys: 5 }),
  ),
}));
const anyJson = fc
  .tuple(anyValue, fc.constantFrom(undefined, 1, "\t", "\r\n "))
  .map(([value, indent]) => JSON.stringify(value, undefined, indent));
const piece = fc.constantFrom(
  ...'{}[],:"\\ \n\t01e.-+ab',
  "true",
  "null",
  "1e400",
  "01",
  "-",
  '"a":',
  '"\\u0000"',
  '"\\ud800"',
  '"a","b",',
  "9007199254740993",
  "\u00a0",
  "\u0001",
);

/**
 * Expects both to read the same value or find the same problems; invalid JSON is refused by both, in different words.
 */
async function expectTheSame(json: string): Promise<void> {
  const [whole, inTurns] = [readJson(json, maxDepth), await readJsonInTurns(json, maxDepth, now)];
  if (!isJson(json)) return expect([whole.outcome, inTurns.outcome]).not.toContain("value");
  expect(inTurns).toStrictEqual(whole);
  expect(JSON.stringify(inTurns)).toBe(JSON.stringify(whole)); // own members named `__proto__`, too
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

test("any JSON is read as by one call", async () => {
  await fc.assert(fc.asyncProperty(anyJson, expectTheSame), { numRuns: 2_000 });
});

test("damaged JSON is refused, or read as the same, as by one call", async () => {
  const damaged = fc
    .tuple(anyJson, fc.nat(), fc.nat(3), piece)
    .map(([json, at, cut, put]) => {
      const from = at % (json.length + 1);
      return json.slice(0, from) + put + json.slice(from + cut);
    })
    .filter((json) => json.isWellFormed());
  await fc.assert(fc.asyncProperty(damaged, expectTheSame), { numRuns: 4_000 });
});

test("pieces of JSON in any order are read as by one call", async () => {
  const heap = fc.array(piece, { maxLength: 12 }).map((pieces) => pieces.join(""));
  await fc.assert(fc.asyncProperty(heap, expectTheSame), { numRuns: 4_000 });
});

test("nesting that is too deep is refused where it occurs, however the text continues", async () => {
  const reading = await readJsonInTurns(`${"[".repeat(maxDepth + 1)} and so on`, maxDepth, now);
  expect(reading).toMatchObject({ outcome: "altered", problems: [{ pointer: "" }] });
});

test.each([
  ["texts", JSON.stringify({ participants: Array.from({ length: 100_000 }, (_, index) => `user-${index}`) })],
  ["numbers", JSON.stringify(Array.from({ length: 100_000 }, (_, index) => index))],
  ["members", JSON.stringify(Object.fromEntries(Array.from({ length: 50_000 }, (_, index) => [`m${index}`, {}])))],
])("100,000 %s are read in many turns", async (_, json) => {
  let turns = 0;
  const reading = await readJsonInTurns(json, maxDepth, async () => {
    turns++;
  });
  expect(reading).toEqual({ outcome: "value", value: JSON.parse(json) });
  expect(turns).toBeGreaterThan(5);
});
