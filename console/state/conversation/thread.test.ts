import { expect, test } from "bun:test";
import type { FeedEvent } from "../../../sdk/admin/feed.ts";
import type { ListedMessage } from "../../../sdk/types.ts";
import { type Thread, threadOf, withAtMost, withEvent, withOlder } from "./thread.ts";

const say = (id: string): ListedMessage => ({
  _id: id,
  t: 1_763_643_960,
  from: "alice",
  body: `text ${id}`,
  cid: "welcome",
  x: {},
  attachments: [],
  created_at: "2025-11-20T13:06:00.000Z",
});
const edit = (id: string, body: string): FeedEvent => ({
  message_edit: { id, cid: "welcome", from: "alice", body, x: { n: 1 }, t: 1_763_643_961 },
});
const recall = (...ids: string[]): FeedEvent => ({
  message_delete: { ids, cid: "welcome", from: "bob", type: "all", t: 1_763_643_962 },
});
const shown = ({ entries }: Thread) =>
  entries.map((entry) => (entry.is === "said" ? entry.message.body : `${entry.id} taken back by ${entry.by}`));

const thread = threadOf({ items: [say("3"), say("2")], cursor: "c" });

test("a new message stands first, once, however often it is heard", () => {
  const next = withEvent(thread, { message: say("4") });
  expect(shown(next)).toEqual(["text 4", "text 3", "text 2"]);
  expect(withEvent(next, { message: say("4") })).toBe(next);
  expect(withEvent(next, { message: say("2") })).toBe(next);
});

test("an edit changes its message, and says when", () => {
  const next = withEvent(thread, edit("2", "new"));
  expect(shown(next)).toEqual(["text 3", "new"]);
  expect(next.entries[1]).toMatchObject({ message: { x: { n: 1 }, edited_at: "2025-11-20T13:06:01.000Z" } });
});

test("a recall leaves the place of its messages, and nothing of their text", () => {
  const next = withEvent(thread, recall("2", "3", "unknown"));
  expect(shown(next)).toEqual(["3 taken back by bob", "2 taken back by bob"]);
  expect(JSON.stringify(next)).not.toContain("text");
  expect(shown(withEvent(next, edit("2", "late")))).toEqual(shown(next));
});

test("what is about other messages changes nothing", () => {
  expect(withEvent(thread, edit("1", "new"))).toBe(thread);
  expect(withEvent(thread, recall("1"))).toBe(thread);
  expect(withEvent(thread, { message_read: { ids: ["2"], cid: "welcome", from: "bob", t: 1 } })).toBe(thread);
});

test("older messages follow, and none is shown twice", () => {
  const next = withOlder(thread, { items: [say("2"), say("1")], cursor: null });
  expect(shown(next)).toEqual(["text 3", "text 2", "text 1"]);
  expect([thread.older, next.older]).toEqual([{ cursor: "c" }, undefined]);
});

test("a thread that grows too long forgets its oldest messages, which can be read again", () => {
  const long = withEvent(thread, { message: say("4") });
  const next = withAtMost(long, 2);
  expect(shown(next)).toEqual(["text 4", "text 3"]);
  expect(next.older).toEqual({ before: "3" });
  expect(withAtMost(next, 2)).toBe(next);
});
