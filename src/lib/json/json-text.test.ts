import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { jsonPointer, scanJson } from "./json-text.ts";

const maxDepth = 32;
const details = (text: string, depth = maxDepth) =>
  scanJson(text, depth).map(({ pointer, detail }) => `${pointer}: ${detail}`);

const safeNumber = fc.oneof(
  fc.maxSafeInteger(),
  fc
    .double({ noNaN: true, noDefaultInfinity: true })
    .filter((number) => !Number.isInteger(number) || Math.abs(number) <= 2 ** 53),
);
const safeText = fc
  .oneof(
    fc.string({ unit: "binary" }),
    fc.string({ unit: fc.constantFrom('"', "\\", "/", "~", "{", "[", "]", "}", ",", ":", "1", "e", "😀", "\n") }),
  )
  .filter((text) => text.isWellFormed() && !text.includes("\u0000"));

const { value: safeValue } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 6 },
    safeText,
    safeNumber,
    fc.constantFrom(null, true, false),
    fc.array(tie("value"), { maxLength: 5 }),
    fc.dictionary(safeText, tie("value"), { maxKeys: 5 }),
  ),
}));

/** A tree written as JSON by hand, so that members can be duplicated with different escapes. */
type Tree = { members: [key: string, isEscaped: boolean, tree: Tree][] } | { items: Tree[] } | "leaf";
const { tree: anyTree } = fc.letrec<{ tree: Tree }>((tie) => ({
  tree: fc.oneof(
    { maxDepth: 4 },
    fc.constant<Tree>("leaf"),
    fc.record({ items: fc.array(tie("tree"), { maxLength: 3 }) }),
    fc.record({
      members: fc.array(fc.tuple(fc.constantFrom("a", "b", "~/", '"\\'), fc.boolean(), tie("tree")), { maxLength: 4 }),
    }),
  ),
}));

function write(tree: Tree): string {
  if (tree === "leaf") return "1";
  if ("items" in tree) return `[${tree.items.map(write).join(",")}]`;
  return `{${tree.members.map(([key, isEscaped, member]) => `${literal(key, isEscaped)}: ${write(member)}`).join(" ,")}}`;
}

function literal(key: string, isEscaped: boolean): string {
  if (!isEscaped) return JSON.stringify(key);
  return `"${[...key].map((character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`).join("")}"`;
}

/** The pointers of duplicate members, found by walking the tree. */
function duplicates(tree: Tree, path: PropertyKey[] = []): string[] {
  if (tree === "leaf") return [];
  if ("items" in tree) return tree.items.flatMap((item, index) => duplicates(item, [...path, index]));
  return tree.members.flatMap(([key, , member], index) => {
    const isSecond = tree.members.slice(0, index).some(([earlier]) => earlier === key);
    return [...(isSecond ? [jsonPointer([...path, key])] : []), ...duplicates(member, [...path, key])];
  });
}

describe("scanning JSON", () => {
  test("finds nothing in what JSON.stringify makes of safe values", () => {
    fc.assert(
      fc.property(safeValue, fc.constantFrom(undefined, 2), (value, indent) => {
        expect(scanJson(JSON.stringify(value, undefined, indent), maxDepth)).toEqual([]);
      }),
      { numRuns: 1000 },
    );
  });

  test("finds the same duplicate members as walking the values, at the same places", () => {
    fc.assert(
      fc.property(anyTree, (tree) => {
        const found = scanJson(write(tree), maxDepth).map(({ pointer }) => pointer);
        expect(found).toEqual(duplicates(tree).slice(0, 10));
      }),
      { numRuns: 1000 },
    );
  });

  test("finds a member repeated in another spelling", () => {
    expect(details('{"a":{"b":1,"\\u0062":2}}')).toEqual(["/a/b: this member appears twice; send it once"]);
  });

  test("finds it among many", () => {
    const members = Array.from({ length: 20 }, (_, index) => `"m${index}":1`).join(",");
    const twice = ["m0", "m7", "m8", "m19"];
    expect(details(`{${members}}`)).toEqual([]);
    expect(details(`{${members},${twice.map((name) => `"${name}":2`).join(",")}}`)).toEqual(
      twice.map((name) => `/${name}: this member appears twice; send it once`),
    );
  });

  test("does not take a member of another object, or a value, for a duplicate", () => {
    expect(details('{"a":"a","b":{"a":"b"},"c":[{"a":1},{"a":2}]}')).toEqual([]);
  });

  test.each([
    "9007199254740993",
    "-9007199254740993",
    "1e400",
    "-1e400",
    "1e-400",
    "0.10000000000000000001",
    "100000000000000000000",
  ])("reports %s, which would change", (number) =>
    expect(details(`{"x":[0,${number}]}`)).toEqual(["/x/1: this number would lose precision; send it as a string"]),
  );

  test.each([
    "0",
    "-0",
    "0.0",
    "1.0",
    "1e3",
    "1E+3",
    "1e-7",
    "9007199254740992",
    "-9007199254740992",
    "5e-324",
    "1.7976931348623157e308",
    "0.1",
  ])("accepts %s, whose value stays", (number) => expect(details(`[${number}]`)).toEqual([]));

  test("accepts every spelling of a decimal that a double can hold, and reports it with 25 more digits", () => {
    const decimal = fc.tuple(fc.integer({ min: 1, max: 10 ** 15 - 1 }), fc.integer({ min: -200, max: 200 }));
    fc.assert(
      fc.property(decimal, ([digits, exponent]) => {
        for (const text of [
          `${digits}e${exponent}`,
          `-${digits}.000E${exponent}`,
          `0.00${digits}e+${Math.abs(exponent)}`,
        ]) {
          expect(details(text)).toEqual([]);
        }
        expect(details(`${digits}.${"0".repeat(24)}1e${exponent}`)).toHaveLength(1);
      }),
    );
  });

  test.each(['"\\u0000"', '"\\ud83d"', '"\\ude00\\ud83d"', '"a\\uD800b"'])(
    "reports the text %s, which cannot be stored",
    (text) => {
      expect(details(`{"x":${text}}`)).toEqual(["/x: text must not contain U+0000 or a lone surrogate"]);
      expect(details(`{${text}:1}`)[0]).toEndWith(": text must not contain U+0000 or a lone surrogate");
    },
  );

  test("accepts a pair of escaped surrogates", () => expect(details('"\\ud83d\\ude00"')).toEqual([]));

  test("accepts the deepest nesting allowed, and reports one more level alone", () => {
    const nested = (depth: number) => "[".repeat(depth) + "]".repeat(depth);
    expect(details(nested(maxDepth))).toEqual([]);
    expect(details(`[1e400,${nested(maxDepth)}]`)).toEqual([": JSON may be nested at most 32 levels deep"]);
    expect(details(nested(100), Number.POSITIVE_INFINITY)).toEqual([]);
  });

  test("reports ten problems at most", () => {
    expect(details(`[${Array(20).fill("1e400").join(",")}]`)).toHaveLength(10);
  });

  test("returns for any text, JSON or not", () => {
    const unit = fc.constantFrom('"', "\\", "{", "}", "[", "]", ",", ":", "-", "1", "e", ".", "u", "0", " ");
    fc.assert(
      fc.property(fc.string({ unit, maxLength: 200 }), (text) =>
        expect(scanJson(text, maxDepth).length).toBeLessThanOrEqual(10),
      ),
    );
  });

  test.each([
    ["backslashes", "\\"],
    ["open strings", '"'],
    ["escaped quotes", '\\"'],
    ["digits", "1"],
    ["minus signs", "-"],
    ["exponents", "1e"],
    ["zeros after a point", "0.0"],
    ["braces that close", "}"],
  ])("takes linear time for a megabyte of %s", (_, unit) => {
    const startedAt = performance.now();
    scanJson(`["${unit.repeat(1_000_000 / unit.length)}`, maxDepth);
    scanJson(`[${unit.repeat(1_000_000 / unit.length)}`, maxDepth);
    expect(performance.now() - startedAt).toBeLessThan(2_000);
  });
});

describe("a JSON pointer", () => {
  test("escapes ~ and / (RFC 6901)", () => {
    expect(jsonPointer([])).toBe("");
    expect(jsonPointer(["a/b", "m~n", 0, ""])).toBe("/a~1b/m~0n/0/");
  });
});
