import { expect, test } from "bun:test";
import { createStyle } from "./output.ts";

import { renderEvent } from "./render-event.ts";

const style = createStyle(false);
const localTime = (iso: string) => new Date(iso).toTimeString().slice(0, 8);
const createdAt = "2026-11-20T13:06:00.123Z";
const message = {
  _id: "m1",
  t: 1_795_179_960,
  from: "alice",
  body: "Hello",
  cid: "welcome",
  x: {},
  attachments: [],
  created_at: createdAt,
};

test("a short message is one line", () => {
  expect(renderEvent({ message: message }, style)).toBe(`${localTime(createdAt)}  welcome  alice  Hello`);
});

test("several lines, attachments and custom parameters stand below, indented", () => {
  const attachments = [{ file_id: "f1", file_name: "report.pdf" }];
  expect(
    renderEvent({ message: { ...message, body: "one\ntwo", attachments, x: { priority: "high" } } }, style).split("\n"),
  ).toEqual([
    `${localTime(createdAt)}  welcome  alice`,
    "          one",
    "          two",
    "          attached  report.pdf  (f1)",
    '          x  {"priority":"high"}',
  ]);
});

test("a system message looks like another thing", () => {
  const at = localTime(new Date(message.t * 1000).toISOString());
  const system = { _id: "s1", t: message.t, from: "alice", x: { status: "ok" } };
  expect(renderEvent({ system_message: system }, style)).toBe(`${at}  ◆ system message  alice  {"status":"ok"}  (s1)`);
  expect(renderEvent({ system_message: { ...system, x: {} } }, style)).toBe(`${at}  ◆ system message  alice  (s1)`);
  const toConversation = { ...system, x: {}, cid: "c\u001b" };
  expect(renderEvent({ system_message: toConversation }, style)).toBe(`${at}  ◆ system message  c\\u001b  alice  (s1)`);
});

test("a read says who has read how much, and up to which message", () => {
  const at = localTime(new Date(message.t * 1000).toISOString());
  const read = { ids: ["m1", "m2"], cid: "welcome", from: "bob", t: message.t };
  expect(renderEvent({ message_read: read }, style)).toBe(`${at}  welcome  bob  has read 2 messages (m2)`);
  expect(renderEvent({ message_read: { ...read, ids: ["m1"] } }, style)).toBe(
    `${at}  welcome  bob  has read a message (m1)`,
  );
});

test("nothing of a message drives the terminal, wherever it hides", () => {
  const evil = "\u001b]0;owned\u0007\n\u009b31m";
  const rendered = [
    renderEvent(
      {
        message: {
          ...message,
          from: evil,
          cid: evil,
          body: evil,
          x: { [evil]: evil },
          attachments: [{ file_id: evil, file_name: evil }],
        },
      },
      style,
    ),
    renderEvent({ system_message: { _id: evil, t: 0, from: evil, x: { [evil]: evil } } }, style),
    renderEvent({ message_read: { ids: [evil], cid: evil, from: evil, t: 0 } }, style),
  ].join("\n");
  expect(rendered).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/);
  expect(rendered.split("\n")).toHaveLength(7);
});

test("an edit shows the message's id and its new text below, and a recall the ids of the messages", () => {
  const at = localTime(new Date(message.t * 1000).toISOString());
  const edit = { id: "m1", cid: "welcome", from: "alice", body: "one\ntwo", x: { a: 1 }, t: message.t };
  expect(renderEvent({ message_edit: edit }, style).split("\n")).toEqual([
    `${at}  welcome  ✎ edit  alice  (m1)`,
    "          one",
    "          two",
    '          x  {"a":1}',
  ]);
  const recall = { ids: ["m1", "m\u001b2"], cid: "welcome", from: "bob", type: "all" as const, t: message.t };
  expect(renderEvent({ message_delete: recall }, style).split("\n")).toEqual([
    `${at}  welcome  ✖ taken back by  bob`,
    "          m1",
    expect.not.stringContaining("\u001b"),
  ]);
});

test("a piece shows the message that it belongs to, where it begins, and its text below", () => {
  const at = localTime(new Date(message.t * 1000).toISOString());
  const piece = {
    id: "m1",
    cid: "welcome",
    from: "alice",
    offset: 3,
    text: "one\ntwo\u001b",
    done: false,
    t: message.t,
  };
  expect(renderEvent({ message_append: piece }, style).split("\n")).toEqual([
    `${at}  welcome  … more  alice  (m1, from 3)`,
    "          one",
    "          two\\u001b",
  ]);
  expect(renderEvent({ message_append: { ...piece, text: "", done: true } }, style)).toBe(
    `${at}  welcome  … the rest  alice  (m1, from 3)`,
  );
});
