import { expect, test } from "bun:test";
import { isObject, isTexts, objectWith, parseJson } from "./json-values.ts";

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
