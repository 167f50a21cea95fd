import { expect, test } from "bun:test";
import { judgeLedgers } from "./judge.ts";
import type { Ledger } from "./recorder.ts";

const stored = [
  { id: "m1", cid: "a", text: "one" },
  { id: "m2", cid: "b", text: "of another room" },
  { id: "m3", cid: "a", text: undefined },
  { id: "m4", cid: "a", text: "four" },
  { id: "m5", cid: "a", text: "five" },
];
const good: Ledger = {
  uid: "u",
  transport: "websocket",
  messages: ["m1", "m3", "m4", "m5"],
  deliveries: 4,
  connections: 1,
  gaps: 0,
  refusal: undefined,
  shown: [
    ["m1", "one"],
    ["m4", "four"],
    ["m5", "five"],
  ],
  views: [
    [
      "a",
      [
        ["m1", "one"],
        ["m4", "four"],
        ["m5", "five"],
      ],
    ],
  ],
  wrongCounts: [],
};
const viewOf = (...shown: [string, string][]): Partial<Ledger> => ({ views: [["a", shown]] });
const faultsOf = (change: Partial<Ledger>) =>
  judgeLedgers({ stored, ledgers: [{ ...good, ...change }], roomsOf: () => new Set(["a"]) }).faults;

test("a client that heard all of its rooms, or all but what was taken back while it was away, is without fault", () => {
  expect(faultsOf({})).toEqual([]);
  expect(faultsOf({ messages: ["m1", "m4", "m5"] })).toEqual([]);
});

test.each<[string, Partial<Ledger>, string]>([
  ["a message that is missed", { messages: ["m1", "m3", "m5"] }, "u: 1 missed"],
  ["a first message that is missed", { messages: ["m3", "m4", "m5"] }, "u: 1 missed"],
  ["a last message that is missed", { messages: ["m1", "m3", "m4"] }, "u: 1 missed"],
  ["a message that comes twice", { messages: ["m1", "m3", "m4", "m4", "m5"] }, "u: 1 doubled"],
  ["a message that was taken back and comes twice", { messages: ["m1", "m3", "m3", "m4", "m5"] }, "u: 1 doubled"],
  ["messages in another order", { messages: ["m1", "m4", "m3", "m5"] }, "u: 1 misordered"],
  ["a message of a room that it is not in", { messages: ["m1", "m2", "m3", "m4", "m5"] }, "u: 1 unstored"],
  ["a gap", { gaps: 1 }, "u: 1 gaps"],
  ["a refusal", { refusal: "4403" }, "u was refused: 4403"],
  ["an edit that was missed", { shown: [["m1", "0"], ...good.shown.slice(1)] }, "u: 2 differences"],
  ["a recall that was missed", { shown: [...good.shown, ["m3", "three"]] }, "u: 1 differences"],
  ["a view without its first message", viewOf(["m4", "four"], ["m5", "five"]), "u: 1 differences"],
  ["a view in another order", viewOf(["m4", "four"], ["m1", "one"], ["m5", "five"]), "u: 2 differences"],
  ["a view with an old text", viewOf(["m1", "one"], ["m4", "0"], ["m5", "five"]), "u: 1 differences"],
  [
    "a view with what was taken back",
    viewOf(["m1", "one"], ["m3", "three"], ["m4", "four"], ["m5", "five"]),
    "u: 3 differences",
  ],
  ["a view that is not there", { views: [] }, "u has 0 views of 1 conversations"],
  [
    "a wrong count of unread messages",
    { wrongCounts: ["a: 1 instead of 2"] },
    "u counts as unread in a: 1 instead of 2",
  ],
])("%s is found", (_, change, fault) => {
  expect(faultsOf(change)).toEqual([fault]);
});
