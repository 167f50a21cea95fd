import { expect, test } from "bun:test";
import { accept, startClient } from "./testing/app.ts";
import { startFakeServer } from "./testing/fake-server.ts";

/** A device that says whether it has a network, as browsers do. */
function useDevice() {
  const before = Object.getOwnPropertyDescriptor(globalThis, "navigator");
  const turn = (onLine: boolean) => {
    Object.defineProperty(globalThis, "navigator", { value: { onLine }, configurable: true });
    globalThis.dispatchEvent(new Event(onLine ? "online" : "offline"));
  };
  return {
    turn,
    [Symbol.dispose]: () => before !== undefined && Object.defineProperty(globalThis, "navigator", before),
  };
}

test("a device that loses its network says so at once, and is connected again as soon as it is back", async () => {
  using device = useDevice();
  using server = startFakeServer();
  using app = startClient({ url: server.url, timing: { minBackoffMs: 60_000, maxBackoffMs: 60_000 } });
  const { socket } = await accept(server.sockets);
  expect(await app.states.take(2)).toEqual(["connecting", "connected"]);
  device.turn(false);
  expect(await app.states.next()).toBe("offline 1006");
  expect(await socket.closed).toBe(1000);
  device.turn(true);
  await accept(server.sockets);
  expect(await app.states.next()).toBe("connected");
});

test.each(["resume", "pageshow", "online"])(
  "at the event %s, a connection that was lost meanwhile is noticed, and one that lives is kept",
  async (event) => {
    using server = startFakeServer();
    using app = startClient({ url: server.url, timing: { requestTimeoutMs: 500 } });
    const { socket } = await accept(server.sockets);
    await app.states.take(2);
    globalThis.dispatchEvent(new Event(event));
    socket.answer(await socket.requests.next(), { pong: {} });
    await app.client.ping().catch(() => undefined); // not answered: longer than the time for an answer
    expect(app.client.state).toBe("connected");
    globalThis.dispatchEvent(new Event(event));
    await accept(server.sockets);
    expect(await app.states.take(2)).toEqual(["reconnecting 1006", "connected"]);
  },
);
