import { expect, test } from "bun:test";
import { partsOf } from "./inbox-ranges.ts";

const offsets = [-9, -8, 3, 5, 7];
const ever = { after: 0, upTo: 100 };
const past = { after: -100, upTo: -1 };

test("who has all, or was never there, needs no line", () => {
  expect(partsOf(offsets, { isThere: true, ranges: [ever, past] })).toEqual([]);
  expect(partsOf(offsets, { isThere: false, ranges: [] })).toEqual([]);
  expect(partsOf([], { isThere: true, ranges: [] })).toEqual([]);
});

test("who came later has what follows; who came after the last has nothing, and what is said of earlier ones follows", () => {
  expect(partsOf(offsets, { isThere: true, ranges: [{ after: 3, upTo: 100 }] })).toEqual([
    { after: 2, upTo: undefined },
  ]);
  expect(partsOf(offsets, { isThere: true, ranges: [{ after: 7, upTo: 100 }] })).toEqual([
    { after: 4, upTo: undefined },
  ]);
  const ranges = [
    { after: 5, upTo: 100 },
    { after: -9, upTo: 4 },
  ];
  expect(partsOf(offsets, { isThere: true, ranges })).toEqual([
    { after: 3, upTo: undefined },
    { after: 0, upTo: 2 },
  ]);
});

test("who has left has what lies between; times in which nothing came are left out, and those that touch are one", () => {
  const left = (...ranges: { after: number; upTo: number }[]) => partsOf(offsets, { isThere: false, ranges });
  expect(left(ever)).toEqual([{ after: 1, upTo: 4 }]);
  expect(left({ after: 3, upTo: 4 })).toEqual([]);
  expect(left({ after: -9, upTo: -8 }, { after: 0, upTo: 4 }, { after: 5, upTo: 7 })).toEqual([
    { after: 0, upTo: 2 },
    { after: 3, upTo: 4 },
  ]);
  expect(left(past, { after: 0, upTo: 2 })).toEqual([{ after: undefined, upTo: 1 }]);
});
