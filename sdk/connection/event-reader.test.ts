import { expect, test } from "bun:test";
import { createEventReader } from "./event-reader.ts";

const text =
  ':\nid: m0\n\nevent: message\nid: m1\ndata: {"a":1}\n\n: comment\n\ndata: first\ndata: second\n\nevent: nothing\n\nevent: system_message\r\ndata:  kept space\r\n\r\n';
const events = [
  { event: "message", data: undefined, id: "m0" },
  { event: "message", data: '{"a":1}', id: "m1" },
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

test("lines end with CR, LF or CRLF, wherever the pieces are cut, and nowhere else", () => {
  const data = "a\u2028b\u2029c\u0085d\u000be\fg";
  for (const end of ["\r", "\n", "\r\n"]) {
    const stream = `:${end}${end}event: e${end}data: ${data}${end}data: 2${end}${end}data: last${end}${end}`;
    for (let size = 1; size <= stream.length; size += 1) {
      const reader = createEventReader();
      const pieces = Array.from({ length: Math.ceil(stream.length / size) }, (_, index) =>
        stream.slice(index * size, (index + 1) * size),
      );
      expect(pieces.flatMap((piece) => reader.read(piece))).toEqual([
        { event: "e", data: `${data}\n2` },
        { event: "message", data: "last" },
      ]);
    }
  }
});

test("an event that ends with carriage returns is complete without what follows", () => {
  const reader = createEventReader();
  expect(reader.read("data: a\r\r")).toEqual([{ event: "message", data: "a" }]);
  expect(reader.read("\ndata: b\n\n")).toEqual([{ event: "message", data: "b" }]);
});
