import { describe, expect, test } from "bun:test";
import type { Run } from "../../harness/clients/memory.ts";
import { createChronicle, flawless, judge, type Past } from "./verdict.ts";

const stored = [..."abcde"];
/** Of `abcxy`, the database kept `abc`, and continued with `de`. */
const pasts: Past[] = [{ messages: [..."abcxy"], endedAt: 100 }];
const run = (ids: string, rest: Partial<Run> = {}): Run => ({
  ids: [...ids],
  since: undefined,
  joinedAt: undefined,
  recovered: undefined,
  paged: [],
  closeCode: undefined,
  ...rest,
});
const judged = (perConnection: string[], reachesEnd = true) =>
  judge(
    perConnection.map((ids) => run(ids)),
    createChronicle(stored),
    reachesEnd,
  );

describe("the judge of what a client heard", () => {
  test.each([[["abcde"]], [["cde"]], [["abc", "de"]], [["abc", "", "bcde"]]])("finds no fault with %j", (heard) => {
    expect(judged(heard)).toEqual(flawless);
  });

  test.each([
    ["a hole in a connection", ["abde"], { lost: 1 }],
    ["a hole between two connections", ["ab", "de"], { lost: 1 }],
    ["an end that never came", ["abc"], { lost: 2 }],
    ["a message twice on one connection", ["abbcde"], { doubled: 1 }],
    ["an old message again on one connection", ["abcdeb"], { doubled: 1 }],
    ["two messages the wrong way round", ["acbde"], { lost: 1, misordered: 1 }],
    ["a message that is not stored", ["abcxde"], { unstored: 1 }],
    ["nothing heard at all", [], { lost: 5 }],
  ])("finds %s", (_, heard, fault) => {
    expect(judged(heard)).toEqual({ ...flawless, ...fault });
  });

  test("expects of a broken connection only what came before", () => {
    expect(judged(["abc"], false)).toEqual(flawless);
  });
});

describe("the judge of what a client heard of a past that the database lost", () => {
  const told = run("abcxy", { closeCode: 1012 });
  const back = { since: "y", joinedAt: 200, recovered: false };

  test.each([
    ["a client that was told, and reads what it missed", [told, run("e", { ...back, paged: ["e", "d"] })]],
    ["a client that missed nothing", [told, run("de", back)]],
    ["a client that reads everything page by page", [told, run("", { ...back, paged: ["e", "d"] })]],
    ["a stream, which has no code", [run("abcx"), run("de", { ...back, since: "x" })]],
    ["a client that had heard nothing of it", [run("abcde")]],
    ["a stream that ends before it begins", [run("abcx"), run("", { since: "x", joinedAt: 200 }), run("de", back)]],
    ["a break in that past", [run("abcx"), run("y", { since: "x", joinedAt: 50, recovered: true }), run("de", back)]],
  ])("finds no fault with %s", (_, runs) => {
    expect(judge(runs, createChronicle(stored, pasts), true)).toEqual(flawless);
  });

  test.each([
    ["a connection that goes on", [run("abcxyde")], { unstored: 2, lost: 2 }],
    ["a hole in that past", [run("abcy", { closeCode: 1012 }), run("de", back)], { lost: 1 }],
    ["another code", [run("abcxy", { closeCode: 1006 }), run("de", back)], { untold: 1 }],
    ["a client that is told that all is well", [told, run("de", { ...back, recovered: true })], { untold: 1 }],
    [
      "a client that hears of that past after its end, and reads what it missed",
      [told, run("xy", { ...back, paged: ["d"], closeCode: 1012 }), run("e", { ...back, joinedAt: 300 })],
      { ghosts: 2 },
    ],
    ["a client that missed something and was not given it", [told, run("e", back)], { lost: 1 }],
    [
      "a gap that needed not be",
      [run("abc"), run("de", { since: "c", joinedAt: 200, recovered: false })],
      { gapsAdmitted: 1 },
    ],
  ])("finds %s", (_, runs, fault) => {
    expect(judge(runs, createChronicle(stored, pasts), true)).toEqual({ ...flawless, ...fault });
  });
});
