import { expect, test } from "bun:test";
import type { LogEvent } from "../../contract/log/log-event.ts";
import { createStreamFrames } from "../streams/stream-frames.ts";
import { createTopics } from "./topics.ts";

const message: LogEvent = {
  org: "o",
  offset: 1,
  kind: "message",
  id: "m1",
  cid: "c",
  payload: '{"message":{"_id":"m1"}}',
  uids: undefined,
};
const system: LogEvent = {
  ...message,
  offset: 2,
  kind: "system",
  id: "e2",
  payload: '{"system_message":{"_id":"s2"}}',
};

test("an event is encoded once for all streams that hear it, on any topic", () => {
  const heard: Uint8Array[] = [];
  const counted: number[] = [];
  const topics = createTopics({
    frames: createStreamFrames(),
    onDelivery: (_, connections) => counted.push(connections),
    onError: expect.unreachable,
  });
  for (const topic of ["one", "one", "other"])
    topics.streams.add(topic, { deliver: (frame) => heard.push(frame) === 0 });
  for (const topic of ["one", "other"]) topics.publish(topic, message, expect.unreachable);
  expect(heard.length).toBe(3);
  expect(new Set(heard).size).toBe(1); // the same piece of memory
  expect(new TextDecoder().decode(heard[0])).toBe('event: message\nid: m1\ndata: {"message":{"_id":"m1"}}\n\n');
  expect(counted).toEqual([2, 1]);
});

test("a system message has no id on a user's stream, and every event is a cursor in a feed", () => {
  const { forUsers, forFeeds } = createStreamFrames();
  const textOf = (frame: Uint8Array) => new TextDecoder().decode(frame);
  expect(textOf(forUsers(system))).toBe(`event: system_message\ndata: ${system.payload}\n\n`);
  expect(textOf(forFeeds(system))).toBe(`event: system_message\nid: 2-e2\ndata: ${system.payload}\n\n`);
  expect(textOf(forFeeds(message))).toBe(textOf(forUsers(message)).replace("id: m1", "id: 1-m1"));
});
