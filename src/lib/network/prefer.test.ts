import { describe, expect, test } from "bun:test";
import { preferenceIn } from "./prefer.ts";

describe("a preference", () => {
  const found: [header: string, value: string | undefined][] = [
    ["wait=5", "5"],
    ["Wait = 5", "5"],
    ['wait="5"', "5"],
    ["respond-async, wait=100", "100"],
    ["wait=10; strict, respond-async", "10"],
    ['foo; some="a, wait=9; b", wait=3', "3"],
    ['note="say \\", wait=9", wait=3', "3"],
    [" ,, wait=2 ,", "2"],
    ["wait=1, wait=2", "1"],
    ["wait=x, wait=2", "x"],
    ["wait", ""],
    ["wait=", ""],
    ['wait=""', ""],
    ["await=5", undefined],
    ["waiting=5", undefined],
    ["foo; wait=5", undefined],
    ["", undefined],
    ["return=minimal", undefined],
    ['broken="wait=5', undefined],
    ["a b, wait=4", "4"],
    ["wait=4 5, wait=6", "6"],
    ["wait=ä", undefined],
  ];
  for (const [header, value] of found)
    test(`wait in ${JSON.stringify(header)} is ${JSON.stringify(value)}`, () => {
      expect(preferenceIn(header, "wait")).toBe(value);
    });
});
