import { describe, expect, test } from "bun:test";
import type { LogEvent } from "../../contract/log/log-event.ts";
import { appendPayload } from "../../contract/messages/append.ts";
import { withRunsJoined } from "./piece-runs.ts";

type Told = Pick<LogEvent, "kind" | "payload">;

const piece = (id: string, offset: number, text: string, done = false): Told => ({
  kind: "append",
  payload: appendPayload({ id, cid: "c", from: "a", offset, text, done, t: offset }),
});
const message: Told = { kind: "message", payload: '{"message":{"_id":"m"}}' };

describe("pieces that follow each other", () => {
  test("are one, which begins as the first and ends as the last", () => {
    expect(withRunsJoined([piece("m", 2, "👋"), piece("m", 3, '"\n'), piece("m", 5, "", true)])).toEqual([
      {
        kind: "append",
        payload: appendPayload({ ...{ id: "m", cid: "c", from: "a" }, offset: 2, text: '👋"\n', done: true, t: 5 }),
      },
    ]);
  });

  test("stay apart when another event, or another message, or a hole lies between", () => {
    for (const events of [
      [piece("m", 0, "a"), message, piece("m", 1, "b")],
      [piece("m", 0, "a"), piece("n", 1, "b"), piece("m", 1, "c")],
      [piece("m", 0, "a"), piece("m", 2, "c")],
      [piece("m", 0, "a"), { kind: "append", payload: "{}" } as const, piece("m", 1, "b")],
    ])
      expect(withRunsJoined(events)).toEqual(events);
  });
});
