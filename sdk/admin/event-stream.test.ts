import { expect, test } from "bun:test";
import { createEventReader } from "./event-stream.ts";

const text =
  ':\n\nevent: message\nid: m1\ndata: {"a":1}\n\n: comment\n\ndata: first\ndata: second\n\nevent: nothing\n\nevent: system_message\r\ndata:  kept space\r\n\r\n';
const events = [
  { event: "message", data: '{"a":1}' },
  { event: "message", data: "first\nsecond" },
  { event: "system_message", data: " kept space" },
];

test("events are read whatever the pieces that they come in", () => {
  for (const size of [1, 2, 3, 7, text.length]) {
    const reader = createEventReader();
    const pieces = text.match(new RegExp(`.{1,${size}}`, "gs")) ?? [];
    expect(pieces.flatMap((piece) => reader.read(piece))).toEqual(events);
  }
});

test("an event that is not yet complete is kept", () => {
  const reader = createEventReader();
  expect(reader.read("event: message\ndata: a\n")).toEqual([]);
  expect(reader.read("\n")).toEqual([{ event: "message", data: "a" }]);
});
