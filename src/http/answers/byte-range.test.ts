import { expect, test } from "bun:test";
import { isKnown, rangeOf } from "./byte-range.ts";

const file = { size: 10, etag: '"a"' };

test.each([
  ["bytes=0-3", { start: 0, end: 4 }],
  ["bytes=4-", { start: 4, end: 10 }],
  ["bytes=-3", { start: 7, end: 10 }],
  ["bytes=-30", { start: 0, end: 10 }],
  ["bytes=9-99", { start: 9, end: 10 }],
  ["bytes=10-", "unsatisfiable"],
  ["bytes=-0", "unsatisfiable"],
  ["bytes=3-2", undefined],
  ["bytes=-", undefined],
  ["bytes=0-1,4-5", undefined],
  ["lines=0-1", undefined],
] as const)("%s of ten bytes is %p", (range, expected) => {
  expect(rangeOf(new Headers({ range }), file)).toEqual(expected);
});

test("a range of another version of the file is ignored", () => {
  expect(rangeOf(new Headers({ range: "bytes=0-3", "if-range": '"b"' }), file)).toBeUndefined();
  expect(rangeOf(new Headers({ range: "bytes=0-3", "if-range": '"a"' }), file)).toEqual({ start: 0, end: 4 });
});

test("a client that names the entity tag has the file", () => {
  const names = (tags: string) => isKnown(new Headers({ "if-none-match": tags }), '"a"');
  expect([names('"a"'), names('"b", W/"a"'), names("*"), names('"b"'), isKnown(new Headers(), '"a"')]).toEqual([
    true,
    true,
    true,
    false,
    false,
  ]);
});
