import { expect, test } from "bun:test";
import { fitsAsJson, isObject, isTexts, objectWith, parseJson } from "./json-values.ts";

test("text that is not JSON has no value", () => {
  expect(parseJson('{"a":[1]}')).toEqual({ a: [1] });
  for (const text of ["", "{", "undefined", '"', "[1,]"]) expect([text, parseJson(text)]).toEqual([text, undefined]);
});

test("objects are distinguished from arrays and null", () => {
  expect([{}, { a: 1 }].map(isObject)).toEqual([true, true]);
  for (const value of [null, undefined, [], "{}", 7]) expect(isObject(value)).toBe(false);
});

test("an array of texts contains nothing else", () => {
  expect([[], ["a", ""]].map(isTexts)).toEqual([true, true]);
  for (const value of ["a", { 0: "a" }, [1], ["a", null], undefined]) expect(isTexts(value)).toBe(false);
});

test("an object is found by the object in it", () => {
  expect(objectWith('{"a":{},"b":1}', "a")).toEqual({ a: {}, b: 1 });
  for (const text of ['{"a":[]}', '{"a":1}', '{"b":{}}', "[]", "null", "{"])
    expect(objectWith(text, "a")).toBeUndefined();
});

test("a value fits into as many bytes as its JSON takes, and not into one less", () => {
  const values = [
    {},
    [],
    null,
    true,
    -Number.MAX_VALUE,
    -1.2345678901234568e-300,
    "",
    "\u0000\u001f",
    "\ud800",
    "é€😀",
    { "": [[], {}, [null, false]] },
    { "\u0001": "\u0001".repeat(100), b: [1e21, -5e-324, { c: "x" }] },
    Array.from({ length: 1_000 }, (_, index) => ({ [`name ${index}`]: "\n".repeat(index % 7) })),
  ];
  for (const value of values) {
    const bytes = Buffer.byteLength(JSON.stringify(value));
    expect([value, fitsAsJson(value, bytes), fitsAsJson(value, bytes - 1)]).toEqual([value, true, false]);
    expect(fitsAsJson(value, Number.POSITIVE_INFINITY)).toBe(true);
  }
});
