import { expect, test } from "bun:test";
import { createStyle } from "./output.ts";
import { renderMessage, renderMessageRead, renderSystemMessage } from "./render-event.ts";

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
  expect(renderMessage(message, style)).toBe(`${localTime(createdAt)}  welcome  alice  Hello`);
});

test("several lines, attachments and custom parameters stand below, indented", () => {
  const attachments = [{ file_id: "f1", file_name: "report.pdf" }];
  expect(
    renderMessage({ ...message, body: "one\ntwo", attachments, x: { priority: "high" } }, style).split("\n"),
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
  expect(renderSystemMessage(system, style)).toBe(`${at}  ◆ system message  alice  {"status":"ok"}  (s1)`);
  expect(renderSystemMessage({ ...system, x: {} }, style)).toBe(`${at}  ◆ system message  alice  (s1)`);
});

test("a read says who has read how much, and up to which message", () => {
  const at = localTime(new Date(message.t * 1000).toISOString());
  const read = { ids: ["m1", "m2"], cid: "welcome", from: "bob", t: message.t };
  expect(renderMessageRead(read, style)).toBe(`${at}  welcome  bob  has read 2 messages (m2)`);
  expect(renderMessageRead({ ...read, ids: ["m1"] }, style)).toBe(`${at}  welcome  bob  has read a message (m1)`);
});

test("nothing of a message drives the terminal, wherever it hides", () => {
  const evil = "\u001b]0;owned\u0007\n\u009b31m";
  const rendered = [
    renderMessage(
      {
        ...message,
        from: evil,
        cid: evil,
        body: evil,
        x: { [evil]: evil },
        attachments: [{ file_id: evil, file_name: evil }],
      },
      style,
    ),
    renderSystemMessage({ _id: evil, t: 0, from: evil, x: { [evil]: evil } }, style),
    renderMessageRead({ ids: [evil], cid: evil, from: evil, t: 0 }, style),
  ].join("\n");
  expect(rendered).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/);
  expect(rendered.split("\n")).toHaveLength(7);
});
