import { expect, test } from "bun:test";
import { connect, type Socket } from "node:net";
import { openSocket } from "../../harness/clients/socket.ts";
import { eventually, within } from "../../harness/deadline.ts";
import { useHerald } from "../../harness/servers/herald.ts";

const herald = useHerald({
  oneNode: "each node counts the connections of an address by itself",
  env: { HERALD_LIMIT_CONNECTIONS_PER_ADDRESS: "3", HERALD_TRUSTED_PROXIES: "127.0.0.1" },
});

/** Opens a connection of a client at an address, which sends requests on demand. */
async function connectFrom(address: string) {
  const { hostname, port } = new URL(herald().url);
  const socket: Socket = connect(Number(port), hostname);
  let received = "";
  let answers = 0;
  socket.on("data", (data) => {
    received += data.toString("latin1");
  });
  socket.on("error", () => undefined);
  const closed = new Promise<void>((resolve) => void socket.on("close", () => resolve()));
  await within(new Promise<void>((resolve) => void socket.on("connect", () => resolve())), "a connection");
  return {
    socket,
    closed,
    /** Whether the response says that it is the last. */
    async isLast(path: string, headers = ""): Promise<boolean> {
      answers++;
      socket.write(`GET ${path} HTTP/1.1\r\nHost: herald\r\nX-Forwarded-For: ${address}\r\n${headers}\r\n`);
      await eventually(() => received.split("HTTP/1.1 ").length > answers || undefined, "an answer");
      return /connection: close/i.test(received);
    },
    [Symbol.dispose]: () => socket.destroy(),
  };
}

test("connections that are only kept alive count for their address: one too many is closed after its response", async () => {
  const from = "192.0.2.1";
  using listener = await openSocket(herald().url, { headers: { "X-Forwarded-For": from } });
  using one = await connectFrom(from);
  using two = await connectFrom(from);
  using three = await connectFrom(from);
  using stranger = await connectFrom("192.0.2.2");
  const key = `Admin-Api-Key: ${herald().key}\r\n`;
  expect([await one.isLast("/healthz"), await two.isLast("/admin/organizations")]).toEqual([false, false]);
  expect(await stranger.isLast("/healthz")).toBe(false);
  expect(await three.isLast("/admin/organizations", key)).toBe(false); // a caller with a key is limited by that
  expect(await three.isLast("/healthz", key)).toBe(true); // with the socket it is the fourth
  await within(three.closed, "the close of one too many");
  expect(await one.isLast("/healthz")).toBe(false);
  await listener.expectSilence();
});

test("connections that are closed after their answer do not count: refused streams leave room for others of their address", async () => {
  const from = "192.0.2.3";
  for (let count = 0; count < 5; count++) {
    using refused = await connectFrom(from);
    expect(await refused.isLast("/sse")).toBe(true);
    await within(refused.closed, "the close after a refused stream");
  }
  using one = await connectFrom(from);
  expect(await one.isLast("/healthz")).toBe(false);
});
