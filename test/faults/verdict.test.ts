import { describe, expect, test } from "bun:test";
import { flawless, judge } from "./verdict.ts";

const positions = new Map(["a", "b", "c", "d", "e"].map((id, index) => [id, index]));
const judged = (perConnection: string[], reachesEnd = true) =>
  judge({ perConnection: perConnection.map((ids) => [...ids]), gapsAdmitted: 0 }, positions, reachesEnd);

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

  test("asks of a connection that was broken only for what came before", () => {
    expect(judged(["abc"], false)).toEqual(flawless);
  });
});
