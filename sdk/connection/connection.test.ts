import { expect, test } from "bun:test";
import { accept, startClient } from "../testing/app.ts";
import { startFakeServer } from "../testing/fake-server.ts";

test("a socket that cannot be made is tried again", async () => {
  using server = startFakeServer();
  let attempts = 0;
  class FailsOnce extends WebSocket {
    constructor(url: string) {
      attempts += 1;
      if (attempts === 1) throw new Error("no socket for you");
      super(url);
    }
  }
  using app = startClient({ url: server.url, WebSocket: FailsOnce });
  await accept(server.sockets);
  expect(await app.errors.next()).toMatchObject({ message: "no socket for you" });
  expect(await app.states.take(3)).toEqual(["connecting", "reconnecting 1006", "connected"]);
});

test("a server that is away is tried again until it is back", async () => {
  const before = startFakeServer();
  const { port } = new URL(before.url);
  before[Symbol.dispose]();
  using app = startClient({ url: `http://127.0.0.1:${port}` });
  const [first, second] = await app.states.take(2);
  expect(first).toBe("connecting");
  expect(second).toStartWith("reconnecting 10");
  using server = startFakeServer(Number(port));
  await accept(server.sockets);
  for (let state = ""; state !== "connected"; ) state = await app.states.next();
});

test("an error without an id is told, an answer that nobody waits for is not", async () => {
  using server = startFakeServer();
  using app = startClient({ url: server.url });
  const { socket } = await accept(server.sockets);
  socket.send({ response: { id: "no such request", error: { status: 400, code: "bad_request", message: "1" } } });
  socket.send({ response: { error: { status: 400, code: "malformed_json", message: "2" } } });
  socket.send({ response: { error: "nonsense" } });
  expect(await app.errors.take(2)).toMatchObject([
    { status: 400, code: "malformed_json" },
    { status: 500, code: "internal" },
  ]);
});
