import { expect, test } from "bun:test";
import { accept, message, startClient } from "./testing/app.ts";
import { startFakeServer } from "./testing/fake-server.ts";
import { createQueue } from "./testing/queue.ts";

test("of several addresses, the next one is tried when a server dies, and when one is dead at the start", async () => {
  const dead = startFakeServer();
  dead[Symbol.dispose]();
  using first = startFakeServer();
  using second = startFakeServer();
  const waits = createQueue<number>();
  using app = startClient({
    url: [dead.url, first.url, second.url],
    timing: { minBackoffMs: 40, maxBackoffMs: 40 },
    onStateChange: (state, { retryInMs = -1 }) => state === "reconnecting" && waits.push(retryInMs),
  });
  const { socket } = await accept(first.sockets);
  expect(await waits.next()).toBe(0); // the dead one costs one try, and no wait
  socket.send(message("m1"));
  await app.messages.next();
  first[Symbol.dispose]();
  const { connect } = await accept(second.sockets, { recovered: true });
  expect(connect.parameters.since).toBe("m1");
  expect(waits.length).toBe(1);
});

test("when all addresses have failed, the client waits", async () => {
  const dead = startFakeServer();
  dead[Symbol.dispose]();
  const waits = createQueue<number>();
  using _app = startClient({
    url: [dead.url, dead.url, dead.url],
    fallback: false,
    timing: { minBackoffMs: 20, maxBackoffMs: 20 },
    onStateChange: (state, { retryInMs = -1 }) => state === "reconnecting" && waits.push(retryInMs),
  });
  const [one, two, three, four, five, six] = await waits.take(6);
  expect([one, two, four, five]).toEqual([0, 0, 0, 0]);
  expect(Math.min(three ?? 0, six ?? 0)).toBeGreaterThan(0);
});

test("no address at all is refused", () => {
  expect(() => startClient({ url: [] })).toThrow(TypeError);
});
