import { expect, test } from "bun:test";
import type { ClientOptions } from "./client-options.ts";
import { HeraldConnectionError, HeraldRequestError } from "./errors.ts";
import { accept, message, startClient, systemMessage } from "./testing/app.ts";
import { startFakeServer } from "./testing/fake-server.ts";
import { createQueue } from "./testing/queue.ts";

test("the token travels in the first frame and never in the URL", async () => {
  using server = startFakeServer();
  using app = startClient({ url: server.url, deviceId: "laptop", since: "m0", token: async () => "secret" });
  const { socket, connect } = await accept(server.sockets, { recovered: true });
  expect(socket.url).toBe(`${server.url}/ws`);
  expect(connect).toMatchObject({ name: "connect", parameters: { token: "secret", device_id: "laptop", since: "m0" } });
  expect([await app.states.next(), await app.states.next()]).toEqual(["connecting", "connected"]);
  expect(app.client.state).toBe("connected");
  expect(app.gaps.length).toBe(0);
});

test("after a cut it resumes from the last message and drops what it has seen", async () => {
  using server = startFakeServer();
  using app = startClient({ url: server.url });
  const first = await accept(server.sockets);
  expect(first.connect.parameters).toEqual({ token: "token" });
  for (const id of ["m1", "m2", "m3"]) first.socket.send(message(id));
  for (const id of ["m1", "m2", "m3"]) expect(await app.messages.next()).toBe(id);
  expect(app.client.since).toBe("m3");
  first.socket.cut();

  const second = await accept(server.sockets, { recovered: true });
  expect(second.connect.parameters).toEqual({ token: "token", since: "m3" });
  for (const id of ["m2", "m3", "m4"]) second.socket.send(message(id));
  expect(await app.messages.next()).toBe("m4");
  expect(app.client.since).toBe("m4");
  expect(app.gaps.length).toBe(0);
});

test("a system message is doubled only if its sender is the same", async () => {
  using server = startFakeServer();
  using app = startClient({ url: server.url });
  const { socket } = await accept(server.sockets);
  for (const from of ["a", "a", "b"]) socket.send(systemMessage(from, "s1"));
  expect([await app.systemMessages.next(), await app.systemMessages.next()]).toEqual(["a/s1", "b/s1"]);
  expect(app.client.since).toBeUndefined();
});

test("reads are told as they come, and change nothing else", async () => {
  using server = startFakeServer();
  using app = startClient({ url: server.url });
  const { socket } = await accept(server.sockets);
  socket.send(message("m1"));
  const read = { ids: ["m1", "m2"], cid: "c", from: "bob", t: 1 };
  for (const event of [read, { ...read, from: "carol" }, { ...read, ids: "m1" }, null])
    socket.send({ message_read: event });
  socket.send(message("m2"));
  expect([await app.reads.next(), await app.reads.next()]).toEqual(["bob has read m1,m2", "carol has read m1,m2"]);
  expect([await app.messages.next(), await app.messages.next()]).toEqual(["m1", "m2"]);
  expect([app.reads.length, app.client.since]).toEqual([0, "m2"]);
});

test.each([1001, 1011, 1012, 4408])("it reconnects after the close code %d", async (code) => {
  using server = startFakeServer();
  using app = startClient({ url: server.url });
  const { socket } = await accept(server.sockets);
  socket.close(code);
  await accept(server.sockets);
  const states = await app.states.take(4);
  expect(states).toEqual(["connecting", "connected", `reconnecting ${code}`, "connected"]);
});

test.each([4400, 4403])("it stays away after the close code %d, until it is started again", async (code) => {
  using server = startFakeServer();
  using app = startClient({ url: server.url });
  const { socket } = await accept(server.sockets);
  socket.close(code);
  expect([await app.states.next(), await app.states.next(), await app.states.next()]).toEqual([
    "connecting",
    "connected",
    `closed ${code}`,
  ]);
  expect(server.sockets.length).toBe(0);
  app.client.start();
  await accept(server.sockets);
});

test("after 4429 it stays away for as long as the reason says, and comes back with what it has seen", async () => {
  using server = startFakeServer();
  const waits = createQueue<number>();
  using app = startClient({
    url: server.url,
    onStateChange: (_state, { retryInMs }) => void (retryInMs !== undefined && waits.push(retryInMs)),
  });
  const { socket } = await accept(server.sockets);
  socket.send(message("m1"));
  await app.messages.next();
  const closedAt = performance.now();
  socket.close(4429, "too many connections or requests; retry in 1 s");
  const again = await accept(server.sockets, { recovered: true });
  expect(performance.now() - closedAt).toBeGreaterThanOrEqual(990); // a timer may be a little early
  expect(again.connect.parameters.since).toBe("m1");
  const waitMs = await waits.next();
  expect(waitMs).toBeGreaterThanOrEqual(1_000);
  expect(waitMs).toBeLessThanOrEqual(2_000);
});

test("after 4429 without a time it waits no less than the usual least", async () => {
  using server = startFakeServer();
  const waits = createQueue<number>();
  using app = startClient({
    url: server.url,
    onStateChange: (_state, { retryInMs }) => void (retryInMs !== undefined && waits.push(retryInMs)),
  });
  (await accept(server.sockets)).socket.close(4429, "too many connections or requests");
  expect(await waits.next()).toBeGreaterThanOrEqual(5_000);
  expect(app.client.state).toBe("reconnecting");
});

test("a connect that is refused with 429 is tried again when the close that follows says", async () => {
  using server = startFakeServer();
  const waits = createQueue<number>();
  using app = startClient({
    url: server.url,
    onStateChange: (_state, { retryInMs }) => void (retryInMs !== undefined && waits.push(retryInMs)),
  });
  const socket = await server.sockets.next();
  const connect = await socket.requests.next();
  socket.answer(connect, { error: { status: 429, code: "rate_limited", message: "too much to do" } });
  socket.close(4429, "too many connections or requests; retry in 30 s");
  expect(await waits.next()).toBeGreaterThanOrEqual(30_000);
  expect(await app.errors.next()).toMatchObject({ status: 429 });
});

test("a connect that is refused with 429 and then not closed ends all the same", async () => {
  using server = startFakeServer();
  using app = startClient({ url: server.url, timing: { tooManyMs: 0 } });
  const socket = await server.sockets.next();
  socket.answer(await socket.requests.next(), { error: { status: 429, code: "rate_limited", message: "too much" } });
  await accept(server.sockets);
  expect(await app.states.take(3)).toEqual(["connecting", "reconnecting 4429", "connected"]);
});

test("a session that has expired is followed by another with a fresh token", async () => {
  using server = startFakeServer();
  const tokens = ["first", "second"];
  using app = startClient({ url: server.url, token: () => tokens.shift() ?? "none" });
  const { socket } = await accept(server.sockets);
  socket.close(4401); // a computer that slept past the end of its session
  const again = await server.sockets.next();
  const connect = await again.requests.next();
  expect(connect.parameters.token).toBe("second");
  again.answer(connect, { success: true });
  expect(await app.states.take(4)).toEqual(["connecting", "connected", "reconnecting 4401", "connected"]);
});

test("a refused connect is told and is final", async () => {
  using server = startFakeServer();
  using app = startClient({ url: server.url });
  const socket = await server.sockets.next();
  const connect = await socket.requests.next();
  socket.answer(connect, { error: { status: 403, code: "organization_forbidden", message: "no" } });
  expect(await app.errors.next()).toMatchObject({ name: "HeraldRequestError", code: "organization_forbidden" });
  expect([await app.states.next(), await app.states.next()]).toEqual(["connecting", "closed 4403"]);
});

test("a connect that fails inside the server, or is never answered, is tried again", async () => {
  using server = startFakeServer();
  using app = startClient({ url: server.url, timing: { requestTimeoutMs: 500 } });
  const first = await server.sockets.next();
  const connect = await first.requests.next();
  first.answer(connect, { error: { status: 503, code: "unavailable", message: "wait" } });
  await (await server.sockets.next()).requests.next();
  await accept(server.sockets);
  expect(await app.errors.next()).toBeInstanceOf(HeraldRequestError);
  expect(await app.errors.next()).toBeInstanceOf(HeraldConnectionError);
});

test("before the session expires a fresh token goes over the same socket", async () => {
  using server = startFakeServer();
  const tokens = ["first", new Error("identity provider is down"), "second"];
  const token = () => {
    const next = tokens.shift();
    if (typeof next === "string") return next;
    throw next;
  };
  using app = startClient({ url: server.url, token });
  const { socket } = await accept(server.sockets);
  socket.send({ session: { expires_at: "2026-11-20T13:06:00.000Z" } });
  const renewal = await socket.requests.next();
  expect(renewal).toMatchObject({ name: "connect", parameters: { token: "second" } });
  expect(await app.errors.next()).toMatchObject({ message: "identity provider is down" });
  socket.answer(renewal, { success: true });
  socket.send(message("m1"));
  expect(await app.messages.next()).toBe("m1");
  expect(server.sockets.length).toBe(0);
});

test("a gap is told when the server cannot replay", async () => {
  using server = startFakeServer();
  using app = startClient({ url: server.url, since: "old" });
  await accept(server.sockets, { recovered: false });
  expect(await app.gaps.next()).toBe("old");
});

test("a break before the first message is a gap, too", async () => {
  using server = startFakeServer();
  using app = startClient({ url: server.url });
  const first = await accept(server.sockets);
  expect(app.gaps.length).toBe(0);
  first.socket.cut();
  await accept(server.sockets);
  expect(await app.gaps.next()).toBeUndefined();
});

test("requests are matched with their answers", async () => {
  using server = startFakeServer();
  using app = startClient({ url: server.url });
  const { socket } = await accept(server.sockets);
  await app.states.next();
  await app.states.next();
  const answers = Promise.all([
    app.client.listMessages({ cid: "c", limit: 2, before: "m9" }),
    app.client.listConversations({ limit: 1 }),
    app.client.ping(),
    app.client.listMessages({ cid: "other" }).catch((error: unknown) => error),
  ]);
  const asked = await socket.requests.take(4);
  expect(asked.map(({ name }) => name)).toEqual(["message_list", "conversation_list", "ping", "message_list"]);
  expect(asked[0]?.parameters).toEqual({ cid: "c", limit: 2, before: "m9" });
  const bodies = [
    { messages: [message("m8").message] },
    { conversations: [], cursor: "next" },
    { pong: {} },
    { error: { status: 403, code: "not_a_participant", message: "no" } },
  ];
  for (const [index, request] of [...asked.entries()].reverse()) socket.answer(request, bodies[index] ?? {});
  expect(await answers).toMatchObject([
    [{ _id: "m8" }],
    { conversations: [], cursor: "next" },
    undefined,
    { status: 403, code: "not_a_participant" },
  ]);
});

test("requests reject without a connection, when it breaks, and when no answer comes", async () => {
  using server = startFakeServer();
  using app = startClient({ url: server.url, timing: { requestTimeoutMs: 500 } });
  await expect(app.client.ping()).rejects.toThrow("The client is not connected (connecting).");
  const { socket } = await accept(server.sockets);
  await app.states.next();
  await app.states.next();
  await expect(app.client.ping()).rejects.toThrow("No response to ping within 0.5 s.");
  const broken = app.client.ping().catch((error: unknown) => error);
  await socket.requests.next();
  await socket.requests.next();
  socket.cut();
  expect(await broken).toMatchObject({ message: "The connection was lost (1006) before the response arrived." });
});

test("a quiet connection is pinged, and replaced when it does not answer", async () => {
  using server = startFakeServer();
  using app = startClient({ url: server.url, timing: { heartbeatMs: 20, requestTimeoutMs: 500 } });
  const { socket } = await accept(server.sockets);
  for (let index = 0; index < 3; index += 1) {
    const ping = await socket.requests.next();
    expect(ping.name).toBe("ping");
    if (index === 0) socket.answer(ping, { pong: {} });
    else if (index === 1) socket.answer(ping, { error: { status: 429, code: "rate_limited", message: "slowly" } });
  }
  await accept(server.sockets);
  const states = await app.states.take(4);
  expect(states).toEqual(["connecting", "connected", "reconnecting 1006", "connected"]);
});

test("after a stable connection the wait starts again from the shortest", async () => {
  using server = startFakeServer();
  const waits = createQueue<number>();
  using _app = startClient({
    url: server.url,
    timing: { minBackoffMs: 1, maxBackoffMs: 60_000, stableAfterMs: 0 },
    onStateChange: (_state, { retryInMs }) => void (retryInMs !== undefined && waits.push(retryInMs)),
  });
  for (let index = 0; index < 20; index += 1) (await accept(server.sockets)).socket.cut();
  expect(Math.max(...(await waits.take(20)))).toBeLessThanOrEqual(1);
});

test("stop closes the socket and stays away; start goes on where it was", async () => {
  using server = startFakeServer();
  using app = startClient({ url: server.url });
  const { socket } = await accept(server.sockets);
  socket.send(message("m1"));
  await app.messages.next();
  app.client.stop();
  expect(await socket.closed).toBe(1000);
  expect(app.client.state).toBe("stopped");
  app.client.start();
  const again = await accept(server.sockets, { recovered: true });
  expect(again.connect.parameters.since).toBe("m1");
  expect(server.sockets.length).toBe(0);
});

test("a token that cannot be had is asked for again", async () => {
  using server = startFakeServer();
  let asked = 0;
  const token = () => {
    asked += 1;
    return asked < 3 ? Promise.reject(new Error(`no token ${asked}`)) : "token";
  };
  using app = startClient({ url: server.url, token });
  await accept(server.sockets);
  expect([await app.errors.next(), await app.errors.next()]).toMatchObject([
    { message: "no token 1" },
    { message: "no token 2" },
  ]);
});

test("neither a callback that throws nor a frame that nobody knows breaks the connection", async () => {
  using server = startFakeServer();
  const seen = createQueue<string>();
  const onMessage: ClientOptions["onMessage"] = ({ _id }) => {
    seen.push(_id);
    if (_id === "m1") throw new Error("in the app");
  };
  using app = startClient({ url: server.url, onMessage });
  const { socket } = await accept(server.sockets);
  for (const frame of ["not json", "[]", "null", { future: {} }, { message: 1 }, message("m1"), message("m2")])
    socket.send(frame);
  expect([await seen.next(), await seen.next()]).toEqual(["m1", "m2"]);
  expect(await app.errors.next()).toBeInstanceOf(SyntaxError);
  expect(await app.errors.next()).toMatchObject({ message: "in the app" });
  expect(app.client.state).toBe("connected");
});

test("receipts go a hundred at a time, and resolve when all are answered", async () => {
  using server = startFakeServer();
  using app = startClient({ url: server.url });
  const { socket } = await accept(server.sockets);
  await app.states.take(2); // the app, too, knows by now that it is connected
  const ids = Array.from({ length: 150 }, (_, index) => `m${index}`);
  const sending = app.client.ack(ids);
  for (const expected of [ids.slice(0, 100), ids.slice(100)]) {
    const request = await socket.requests.next();
    expect(request).toMatchObject({ name: "ack", parameters: { ids: expected } });
    socket.answer(request, { success: true });
  }
  await sending;
  const one = app.client.ack("m1");
  socket.cut();
  await expect(one).rejects.toBeInstanceOf(HeraldConnectionError);
});

test("edits, pieces and recalls come in order among the messages, and again after a reconnect", async () => {
  using server = startFakeServer();
  const heard = createQueue<string>();
  using app = startClient({
    url: server.url,
    onMessage: ({ _id }) => heard.push(_id),
    onMessageEdit: ({ id, body, x }) => heard.push(`${id} says ${body} ${JSON.stringify(x)}`),
    onMessageAppend: ({ id, offset, text }) => heard.push(`${id} goes on at ${offset}: ${text}`),
    onMessageDelete: ({ ids, from }) => heard.push(`${from} took back ${ids}`),
  });
  const edit = { message_edit: { id: "m1", cid: "c", from: "alice", body: "new", x: { n: 1 }, t: 2 } };
  const recall = { message_delete: { ids: ["m1", "m0"], cid: "c", from: "bob", type: "all", t: 3 } };
  const piece = { message_append: { id: "m2", cid: "c", from: "bob", offset: 5, text: "more", done: true, t: 3 } };
  const events = [message("m1"), edit, message("m2"), piece, recall];
  const { socket } = await accept(server.sockets);
  for (const event of events) socket.send(event);
  const said = 'm1 says new {"n":1}';
  expect(await heard.take(5)).toEqual(["m1", said, "m2", "m2 goes on at 5: more", "bob took back m1,m0"]);
  expect(app.client.since).toBe("m2");
  socket.cut();
  const second = await accept(server.sockets, { recovered: true });
  expect(second.connect.parameters).toMatchObject({ since: "m2" });
  for (const event of [edit, recall, message("m3")]) second.socket.send(event);
  expect(await heard.take(3)).toEqual([said, "bob took back m1,m0", "m3"]);
});

test("an app that handles no edits and recalls hears the messages around them", async () => {
  using server = startFakeServer();
  using app = startClient({ url: server.url });
  const { socket } = await accept(server.sockets);
  socket.send({ message_edit: { id: "m1", cid: "c", from: "alice", body: "new", x: {}, t: 2 } });
  socket.send({ message_delete: { ids: "not a list" } });
  socket.send(message("m1"));
  expect(await app.messages.next()).toBe("m1");
  expect(app.errors.length).toBe(0);
});
