import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { LogEvent } from "../contract/log/log-event.ts";
import { decodeHint, encodeHint, toObject } from "./hint-codec.ts";
import { presenceAnswer, presenceQuestion } from "./presence-codec.ts";

const event: LogEvent = {
  org: "o",
  offset: 7,
  kind: "system",
  id: "e7",
  cid: undefined,
  payload: '{"system_message":{"_id":"zoë"}}',
  uids: ["a", "b"],
  prev: "e6",
  committed: { node: "n", steadyMs: 1.5, wallMs: 2, trace: "00-a-b-01" },
};

describe("a hint", () => {
  test("arrives unchanged, with a version", () => {
    const text = encodeHint(event, 10_000);
    expect(JSON.parse(text).v).toBe(1);
    expect(decodeHint(text, "o")).toEqual(event);
    const first = { ...event, kind: "message" as const, cid: "c", uids: undefined, prev: "", committed: undefined };
    expect(decodeHint(encodeHint(first, 10_000), "o")).toEqual(first);
    const expiring = { ...first, expiresAt: 1_795_179_963_123 };
    expect(decodeHint(encodeHint(expiring, 10_000), "o")).toEqual(expiring);
  });

  test("that is too large carries only its event's place", () => {
    expect(decodeHint(encodeHint(event, 10), "o")).toEqual({ org: "o", offset: 7, id: "e7", prev: "e6" });
  });

  test("of the previous version, which says less, is read", () => {
    const { prev: _, ...before } = event;
    expect(decodeHint(JSON.stringify(before), "o")).toEqual({ ...before, prev: undefined });
    expect(decodeHint('{"org":"o","offset":3}', "o")).toEqual({ org: "o", offset: 3, prev: undefined });
  });

  test("of an unknown kind keeps its place", () => {
    expect(decodeHint(JSON.stringify({ v: 1, ...event, kind: "of a later version" }), "o")).toEqual({
      ...event,
      kind: "unknown",
    });
  });

  test("that is unreadable is dropped, whatever is wrong with it", () => {
    const wrong: Record<string, unknown[]> = {
      v: [0, 2, "1", null],
      org: ["p", 1, null, undefined],
      offset: ["7", null, undefined, 0, -1, 1.5, 2 ** 60, {}, true],
      kind: [1, null, undefined],
      id: [1, null, undefined],
      cid: [1, null],
      payload: [1, null, {}],
      uids: ["a", null, [1], {}],
      prev: [1, null],
    };
    for (const [field, values] of Object.entries(wrong))
      for (const value of values) {
        const text = JSON.stringify({ v: 1, ...event, [field]: value });
        expect([text, decodeHint(text, "o")]).toEqual([text, undefined]);
      }
    for (const text of ["", "{", "null", "1", '"x"', "[]", "{}", '{"org":"o","offset":NaN}'])
      expect(decodeHint(text, "o")).toBeUndefined();
    for (const committed of [1, null, {}, { node: 1 }, { node: "n", steadyMs: "1", wallMs: 1 }])
      expect(decodeHint(JSON.stringify({ v: 1, ...event, committed }), "o")).toEqual({
        ...event,
        committed: undefined,
      });
  });

  test("may be any text, and never throws; nor does presence", () => {
    fc.assert(
      fc.property(fc.oneof(fc.json(), fc.string()), (text) => {
        decodeHint(text, "o");
        presenceQuestion.safeParse(toObject(text));
        presenceAnswer.safeParse(toObject(text));
      }),
    );
  });
});

describe("presence between nodes", () => {
  test("is read if it is valid, and dropped otherwise", () => {
    for (const question of [
      { org: "o", uids: ["a"], devices: true },
      { org: "o", uids: [] },
      { org: "o", after: "", limit: 3 },
    ])
      expect(presenceQuestion.parse(question)).toEqual(question);
    for (const question of [
      {},
      { org: "o" },
      { org: "o", uids: [1] },
      { org: "o", after: "a", limit: 0 },
      { uids: [] },
    ])
      expect(presenceQuestion.safeParse(question).success).toBe(false);
    const answer = { online: [{ id: "a", connections: 1 }], hasMore: false, total: { users: 1, connections: 1 } };
    expect(presenceAnswer.parse({ node: "n", answer })).toEqual({ node: "n", answer });
    for (const wrong of [{}, { node: "n" }, { node: 1, answer }, { node: "n", answer: { ...answer, online: [{}] } }])
      expect(presenceAnswer.safeParse(wrong).success).toBe(false);
  });
});
