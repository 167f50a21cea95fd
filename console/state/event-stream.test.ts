import { expect, test } from "bun:test";
import { readEventStream, type StreamEvent } from "./event-stream.ts";

const text =
  ': hello\n\nevent: message\nid: 1\ndata: {"a":"ä👋"}\n\n:\n\ndata: x\r\ndata:  y\r\nretry: 5\r\n\r\nevent: late\ndata: no end';
const expected: StreamEvent[] = [
  { type: "message", id: "1", data: '{"a":"ä👋"}' },
  { type: "message", id: "", data: "x\n y" },
];

test("events are read however the bytes are cut, and a last one without an end is none", async () => {
  const bytes = new TextEncoder().encode(text);
  for (const size of [1, 2, 3, 7, bytes.length]) {
    const heard: StreamEvent[] = [];
    const body = new ReadableStream<Uint8Array<ArrayBuffer>>({
      start(controller) {
        for (let start = 0; start < bytes.length; start += size) controller.enqueue(bytes.slice(start, start + size));
        controller.close();
      },
    });
    await readEventStream(body, (event) => heard.push(event));
    expect(heard).toEqual(expected);
  }
});
