import { expect, test } from "bun:test";
import type { FeedEvent } from "../../sdk/admin/feed.ts";
import type { Message } from "../../sdk/types.ts";
import { createGrowing } from "./growing.ts";
import type { Heard } from "./heard.ts";

const message = (id: string): Message => ({
  _id: id,
  t: 1_763_643_960,
  from: "alice",
  body: "",
  cid: "welcome",
  x: {},
  attachments: [],
  created_at: "2025-11-20T13:06:00.000Z",
  open: true,
});
const piece = (id: string, offset: number, text: string, done = false): FeedEvent => ({
  message_append: { id, cid: "welcome", from: "alice", offset, text, done, t: 1_763_643_961 },
});
const recall = (id: string): FeedEvent => ({
  message_delete: { ids: [id], cid: "welcome", from: "bob", type: "all", t: 1_763_643_962 },
});

/** A list that begins with the event of this number, and shows open messages. */
function following(first: number, ...ids: string[]) {
  const heard = ids.map(
    (id, place): Heard => ({ number: first + place, heardAt: 0, kind: "message", message: message(id) }),
  );
  const growing = createGrowing();
  heard.forEach(growing.begin);
  const shown = () => heard.map((one) => one.kind === "message" && [one.message.body, one.message.open === true]);
  return { heard, growing, shown };
}

test("each piece is shown in its message, until the last one completes it", () => {
  const { heard, growing, shown } = following(7, "a", "b");
  expect(growing.apply(heard, piece("b", 0, "We "))).toBe(true);
  expect(growing.apply(heard, piece("b", 3, "open", true))).toBe(true);
  expect(shown()).toEqual([
    ["", true],
    ["We open", false],
  ]);
  expect(growing.apply(heard, piece("b", 7, "!"))).toBe(false);
});

test("a recall ends its message, and is shown itself", () => {
  const { heard, growing, shown } = following(1, "a");
  expect(growing.apply(heard, recall("a"))).toBe(false);
  expect(shown()).toEqual([["", false]]);
});

test("a piece after missing text stands alone, as does one of a message that is not shown", () => {
  const { heard, growing, shown } = following(1, "a", "b");
  expect(growing.apply(heard, piece("a", 5, "late"))).toBe(false);
  expect(shown()).toEqual([
    ["", false],
    ["", true],
  ]);
  heard.shift();
  heard.shift();
  expect(growing.apply(heard, piece("b", 0, "We "))).toBe(false);
  expect(growing.apply(heard, piece("c", 0, "We "))).toBe(false);
});

test("after a break that may have lost pieces, nothing is marked as open", () => {
  const { heard, growing, shown } = following(3, "a", "b");
  growing.forget(heard);
  expect(shown()).toEqual([
    ["", false],
    ["", false],
  ]);
});
