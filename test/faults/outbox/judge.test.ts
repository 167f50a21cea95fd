import { describe, expect, test } from "bun:test";
import { judgeOutbox, type WrittenRow } from "./judge.ts";

const rowOf = (writer: string, body: string, at: number, outcome: WrittenRow["outcome"] = "committed"): WrittenRow => ({
  org: "o",
  writer,
  body,
  beganAt: at,
  endedAt: at + 5,
  outcome,
});
const rows = [
  rowOf("w1", "a", 0),
  rowOf("w1", "b", 0),
  rowOf("w1", "c", 10, "taken back"),
  rowOf("w2", "d", 3),
  rowOf("w2", "e", 20, "unknown"),
  rowOf("w2", "f", 30, "unknown"),
];
const judged = (messages: string[], kept = ["a", "b", "d", "e"]) => [
  ...judgeOutbox({ rows, kept: new Set(kept), messages: new Map([["o", messages]]) }),
];

describe("the judge of the outbox", () => {
  test("finds no fault if what was kept is sent once, and in order where there is one", () => {
    expect(judged(["a", "b", "d", "e"])).toEqual([]);
    expect(judged(["d", "a", "b", "e"])).toEqual([]); // at the same time
    expect(judged(["a", "b", "d", "f"], ["a", "b", "d", "f"])).toEqual([]);
  });

  test.each([
    ["a row that is lost", ["a", "d", "e"], undefined, "b (committed) was kept, and is not sent"],
    ["a row of unknown outcome that is lost", ["a", "b", "d"], undefined, "e (unknown) was kept, and is not sent"],
    ["a row that is doubled", ["a", "b", "b", "d", "e"], undefined, "b is there 2 times"],
    ["a row that was taken back", ["a", "b", "c", "d", "e"], undefined, "c (taken back) was not kept, and is sent"],
    ["a row that was never kept", ["a", "b", "d", "e", "f"], undefined, "f (unknown) was not kept, and is sent"],
    ["a row that nobody wrote", ["a", "b", "d", "e", "x"], undefined, "x is sent, and nobody wrote it"],
    ["a writer's rows in another order", ["b", "a", "d", "e"], undefined, "a is after b"],
    [
      "a row before one that ended earlier",
      ["d", "e", "a", "b"],
      undefined,
      "a had ended when e began, and is after it",
    ],
    ["a database that loses", ["a", "d", "e"], ["a", "d", "e"], "b was committed, and its database lost it"],
  ])("finds %s", (_, messages, kept, fault) => {
    expect(judged(messages, kept)).toContain(fault);
  });
});
