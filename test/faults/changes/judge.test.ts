import { describe, expect, test } from "bun:test";
import type { Deeds } from "./authors.ts";
import { compareShown, judgeChanges } from "./judge.ts";
import type { ChangeListener } from "./listener.ts";

const deeds: Deeds = {
  written: [
    { id: "m1", texts: ["a", "b"], isInDoubt: false, isGone: false },
    { id: "m2", texts: ["c"], isInDoubt: false, isGone: true },
  ],
  batched: ["d"],
  scheduled: [
    { id: "s1", text: "e", isCancelled: false },
    { id: "s2", text: "f", isCancelled: true },
  ],
  notices: [
    { id: "n1", key: "k", isGone: false },
    { id: "n2", key: undefined, isGone: false },
    { id: "n3", key: undefined, isGone: true },
    { id: "n4", key: "k", isGone: false },
    { id: "n5", key: "l", isGone: false },
    { id: "n6", key: "l", isGone: true },
  ],
};
const listed = { m1: "b", m3: "d", m4: "e" };
const order = ["message m1", "message m2", "edit m1 b", "recall m2", "message m3", "message m4"];
const listenerOf = (...runs: string[][]): ChangeListener => ({
  uid: "u",
  runs,
  shown: new Map(),
  close: () => undefined,
});
const judged = (
  change: Record<string, string | undefined> = {},
  runs: string[][] = [order],
  losesTail = false,
  inbox = ["n4", "n2"],
) => {
  const texts = Object.entries({ ...listed, ...change }).flatMap(([id, text]): [string, string][] =>
    text === undefined ? [] : [[id, text]],
  );
  const listeners = runs.map((run) => listenerOf(run));
  return [...judgeChanges({ deeds, listed: new Map(texts), inbox, listeners, losesTail })];
};

describe("the judge of changes", () => {
  test("finds no fault if all is as it was answered, and heard in one order, in part or whole", () => {
    expect(judged({}, [order, order.slice(1, 4), order.slice(3)])).toEqual([]);
  });

  test.each([
    ["an edit that is lost", { m1: "a" }, "m1 says a, not b"],
    ["a message that is still there after its recall", { m2: "c" }, "m2 says c, not "],
    ["a line of a batch that is there twice", { m9: "d" }, "d is there 2 times"],
    ["a line of a batch that is lost", { m3: undefined }, "d, a line of a batch, is lost"],
    ["a scheduled send that is there twice", { m9: "e" }, "e is there 2 times"],
    ["a scheduled send that is lost", { m4: undefined }, "e is neither cancelled nor sent"],
    ["a scheduled send that is cancelled and sent", { m9: "f" }, "f is cancelled and sent"],
  ])("finds %s", (_, change, fault) => {
    expect(judged(change)).toEqual([fault]);
  });

  test("finds an event that comes twice on one connection", () => {
    expect(judged({}, [[...order, "edit m1 b"]])).toContain("a connection of u hears twice: edit m1 b");
  });

  test("finds two connections that disagree about the order", () => {
    expect(judged({}, [order, ["recall m2", "edit m1 b"]])).toHaveLength(1);
  });

  test.each([
    [["n2"], "n4 is missing in the inbox"],
    [["n4", "n3", "n2"], "n3 is in the inbox, and should not be"],
    [["n4", "n2", "n1"], "n1 is in the inbox, and should not be"],
    [["n5", "n4", "n2"], "n5 is in the inbox, and should not be"],
    [["n2", "n4"], "the inbox is in another order: n2,n4, not n4,n2"],
  ])("finds what is wrong with an inbox of %p", (inbox, fault) => {
    expect(judged({}, [order], false, inbox)).toEqual([fault]);
  });

  test("demands nothing of what a database loses, except that nothing is doubled", () => {
    expect(judged({ m1: "a", m2: "c", m3: undefined, m9: "e" }, [order], true)).toEqual(["e is there 2 times"]);
  });

  test("accepts an earlier text if an answer was lost, but not after a recall", () => {
    const inDoubt = { ...deeds, written: deeds.written.map((one) => ({ ...one, isInDoubt: true })) };
    const said = new Map(Object.entries({ ...listed, m1: "a", m2: "c" }));
    expect([
      ...judgeChanges({ deeds: inDoubt, listed: said, inbox: ["n4", "n2"], listeners: [], losesTail: false }),
    ]).toEqual(["m2 says c, not "]);
  });

  test("compares what a client shows with lists", () => {
    const shown = new Map(Object.entries({ m1: "a", m2: "c", m3: "d" }));
    expect([...compareShown({ uid: "u", shown }, new Map(Object.entries(listed)))]).toEqual([
      "u shows a for b",
      "u shows undefined for e",
      "u still shows c, which is gone (m2)",
    ]);
  });
});
