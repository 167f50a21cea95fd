import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { canonicalJson } from "./json-values.ts";

/** The same value with the members of each object in reverse order. */
function reversed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reversed);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([name, member]) => [name, reversed(member)]),
  );
}

describe("canonical JSON", () => {
  test("does not depend on the order of members at any depth", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => expect(canonicalJson(reversed(value))).toBe(canonicalJson(value))),
    );
  });

  test("is JSON of the same value", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) =>
        expect(JSON.parse(canonicalJson(value))).toEqual(JSON.parse(JSON.stringify(value))),
      ),
    );
  });

  test("differs if values differ", () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (left, right) => {
        const areEqual = Bun.deepEquals(JSON.parse(JSON.stringify(left)), JSON.parse(JSON.stringify(right)));
        expect(canonicalJson(left) === canonicalJson(right)).toBe(areEqual);
      }),
    );
  });

  test("keeps the order of arrays, and a member named __proto__", () => {
    expect(canonicalJson([2, 1])).toBe("[2,1]");
    expect(canonicalJson(JSON.parse('{"b":1,"__proto__":{"z":1,"a":2}}'))).toBe('{"__proto__":{"a":2,"z":1},"b":1}');
  });

  test("omits undefined members, like JSON", () => {
    expect(canonicalJson({ b: undefined, a: [undefined] })).toBe('{"a":[null]}');
  });
});
