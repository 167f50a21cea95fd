import { afterEach, beforeEach, describe, expect, jest, test } from "bun:test";
import { accept, message, startClient } from "./testing/app.ts";
import { startFakeServer } from "./testing/fake-server.ts";
import { createQueue } from "./testing/queue.ts";
import type { Typing } from "./types.ts";
import { createTypists } from "./typists.ts";

function prepare() {
  const told: string[] = [];
  const typists = createTypists(({ cid, from, status }) => void told.push(`${from} ${status} ${cid}`));
  const typing = (from: string, status: Typing["status"] = "start"): Typing => ({ cid: "c", from, status, t: 1 });
  return { told, typists, typing };
}

describe("with a clock of the test", () => {
  beforeEach(() => void jest.useFakeTimers());
  afterEach(() => void jest.useRealTimers());

  test("a status holds for ten seconds after it was repeated last", () => {
    const { told, typists, typing } = prepare();
    typists.hear(typing("ann"));
    jest.advanceTimersByTime(9_000);
    typists.hear(typing("ann"));
    jest.advanceTimersByTime(9_999);
    expect(told).toEqual(["ann start c", "ann start c"]);
    jest.advanceTimersByTime(1);
    expect(told.slice(2)).toEqual(["ann stop c"]);
    jest.advanceTimersByTime(60_000);
    expect(told).toHaveLength(3);
  });

  test("a message ends it once, and only that of its user in its conversation; a stop needs no other end", () => {
    const { told, typists, typing } = prepare();
    for (const uid of ["ann", "bob"]) typists.hear(typing(uid));
    typists.said({ cid: "d", from: "ann" });
    typists.said({ cid: "c", from: "eve" });
    typists.said({ cid: "c", from: "ann" });
    typists.said({ cid: "c", from: "ann" });
    typists.hear(typing("bob", "stop"));
    jest.advanceTimersByTime(60_000);
    expect(told).toEqual(["ann start c", "bob start c", "ann stop c", "bob stop c"]);
  });

  test("a client that stops is told nothing more", () => {
    const { told, typists, typing } = prepare();
    typists.hear(typing("ann"));
    typists.stop();
    jest.advanceTimersByTime(60_000);
    expect(told).toEqual(["ann start c"]);
  });
});

test("who types is told, and ends with a message of that user in that conversation", async () => {
  using server = startFakeServer();
  const heard = createQueue<string>();
  using app = startClient({
    url: server.url,
    onMessage: ({ _id }) => heard.push(_id),
    onTyping: ({ from, cid, status }) => heard.push(`${from} ${status} in ${cid}`),
  });
  const { socket } = await accept(server.sockets);
  const typing = (cid: string, status = "start") => ({ typing: { cid, from: "alice", status, t: 1 } });
  for (const event of [typing("d"), typing("c"), message("m1"), typing("c"), typing("c", "stop"), message("m2")])
    socket.send(event);
  const told = await heard.take(7);
  expect(told.filter((one) => /^m/.test(one))).toEqual(["m1", "m2"]);
  expect(told).toContain("alice start in d");
  const ofTyping = told.filter((one) => one.includes(" in c"));
  expect(ofTyping).toEqual(["alice start in c", "alice stop in c", "alice start in c", "alice stop in c"]);
  const telling = app.client.tellTyping("c", "stop");
  const request = await socket.requests.next();
  expect(request).toMatchObject({ name: "typing", parameters: { cid: "c", status: "stop" } });
  socket.answer(request, { success: true });
  await telling;
});
