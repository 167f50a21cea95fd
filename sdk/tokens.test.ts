import { expect, test } from "bun:test";
import type { ClientState } from "./client-options.ts";
import { accept, message, startClient } from "./testing/app.ts";
import { startFakeServer } from "./testing/fake-server.ts";
import { createQueue } from "./testing/queue.ts";

const timing = { refusedTokenMs: 1 };
const unauthorized = { error: { status: 401, code: "unauthorized", message: "the token is expired" } };

test.each([
  ["undefined", undefined],
  ["an object", { token: "secret-of-a-user" }],
  ["nothing", ""],
  ["an error page", "<!doctype html>\n<h1>502 secret-of-a-user</h1>"],
  ["a token with a line break inside", "secret-of\n-a-user"],
  ["a token with another alphabet", "secret-of-a-user-é"],
])("after a token callback that once gives %s, the client asks again, and does not repeat it", async (_name, first) => {
  using server = startFakeServer();
  const tokens: unknown[] = [first];
  using app = startClient({
    url: server.url,
    token: () => (tokens.length > 0 ? (tokens.shift() as string) : " second\n"),
  });
  const { connect } = await accept(server.sockets);
  expect(connect.parameters.token).toBe("second"); // without the white space around it
  const error = await app.errors.next();
  expect(error).toMatchObject({ name: "HeraldArgumentError", message: expect.stringContaining("token()") });
  expect(`${error} ${JSON.stringify(error)}`).not.toContain("secret");
  expect(await app.states.take(3)).toEqual(["connecting", "reconnecting 1006", "connected"]);
});

test.each([
  ["one address", []],
  ["several addresses", ["http://localhost:9"]],
])(
  "without a token, each attempt waits for the backoff, and says nothing about WebSockets: %s",
  async (_name, others) => {
    using server = startFakeServer();
    const changes = createQueue<[ClientState, number | undefined]>();
    let attempts = 0;
    using app = startClient({
      url: [server.url, ...others],
      token: async () => {
        attempts += 1;
        if (attempts < 7) throw new Error("there is no network");
        return "token";
      },
      onStateChange: (state, { retryInMs }) => changes.push([state, retryInMs]),
    });
    await accept(server.sockets);
    const [first, ...waits] = await changes.take(7);
    expect([first?.[0], ...waits.map(([state]) => state)]).toEqual(["connecting", ...Array(6).fill("reconnecting")]);
    expect(waits.filter(([, ms]) => ms === undefined || ms === 0)).toEqual([]);
    expect([await changes.next(), app.client.transport, attempts]).toEqual([["connected", undefined], "websocket", 7]);
  },
);

test("a token that is refused once is followed by another after a while", async () => {
  using server = startFakeServer();
  const tokens = ["stale"];
  using app = startClient({ url: server.url, timing, token: () => tokens.shift() ?? "fresh" });
  for (const token of ["stale", "fresh"]) {
    const socket = await server.sockets.next();
    const connect = await socket.requests.next();
    expect(connect.parameters.token).toBe(token);
    if (token === "stale") socket.answer(connect, unauthorized);
    else socket.answer(connect, { success: true });
    if (token === "fresh") socket.send(message("m1"));
  }
  expect(await app.messages.next()).toBe("m1");
  expect(await app.states.take(3)).toEqual(["connecting", "reconnecting 4401", "connected"]);
});

test("a client whose tokens are refused five times in a row is closed, and begins again when it is started", async () => {
  using server = startFakeServer();
  const waits = createQueue<number>();
  using app = startClient({
    url: server.url,
    timing,
    onStateChange: (_state, { retryInMs }) => void (retryInMs !== undefined && waits.push(retryInMs)),
  });
  for (let refused = 0; refused < 5; refused += 1) {
    const socket = await server.sockets.next();
    socket.answer(await socket.requests.next(), unauthorized);
    expect(await app.errors.next()).toMatchObject({ code: "unauthorized" });
  }
  for (const least of [1, 2, 4, 8]) {
    const waitMs = await waits.next();
    expect(waitMs).toBeGreaterThanOrEqual(least);
    expect(waitMs).toBeLessThanOrEqual(2 * least);
  }
  while (app.client.state !== "closed") await new Promise(setImmediate);
  app.client.start();
  const socket = await server.sockets.next();
  socket.answer(await socket.requests.next(), unauthorized);
  await accept(server.sockets);
});
