import { expect, test } from "bun:test";
import { message, startClient, systemMessage } from "../testing/app.ts";
import { createQueue } from "../testing/queue.ts";

/** A server whose WebSockets are blocked on the way, and that streams what the test says. */
function startBlocked(refusals: Response[] = []) {
  type Stream = { headers: Headers; send(frame: unknown): void; comment(): void; end(): void; closed: Promise<void> };
  const streams = createQueue<Stream>();
  const paths: string[] = [];
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    idleTimeout: 0,
    fetch(request) {
      const { pathname } = new URL(request.url);
      paths.push(pathname);
      if (pathname !== "/sse") return new Response("blocked", { status: 403 });
      const refusal = refusals.shift();
      if (refusal !== undefined) return refusal;
      const closed = Promise.withResolvers<void>();
      const encoder = new TextEncoder();
      const body = new ReadableStream({
        start(controller) {
          const write = (text: string) => controller.enqueue(encoder.encode(text));
          write(":\n\n");
          streams.push({
            headers: request.headers,
            send: (frame) => write(`event: some\nid: 1\ndata: ${JSON.stringify(frame)}\n\n`),
            comment: () => write(":\n\n"),
            end: () => controller.close(),
            closed: closed.promise,
          });
        },
        cancel: () => closed.resolve(),
      });
      const recovered = request.headers.has("last-event-id") ? { "Herald-Recovered": "true" } : {};
      return new Response(body, { headers: { "Content-Type": "text/event-stream", ...recovered } });
    },
  });
  return { url: server.url.origin, streams, paths, [Symbol.dispose]: () => void server.stop(true) };
}

test("where WebSockets are blocked, the client receives the same by server-sent events, and resumes after a break", async () => {
  using server = startBlocked();
  using app = startClient({ url: server.url });
  const first = await server.streams.next();
  expect(first.headers.get("authorization")).toBe("Bearer token");
  first.send(message("m1"));
  first.send(systemMessage("alice", "s1"));
  first.send(message("m2"));
  expect(await app.messages.take(2)).toEqual(["m1", "m2"]);
  expect(await app.systemMessages.next()).toBe("alice/s1");
  expect(app.client.transport).toBe("sse");
  first.end();
  const second = await server.streams.next();
  expect(second.headers.get("last-event-id")).toBe("m2");
  for (const id of ["m2", "m3"]) second.send(message(id));
  expect(await app.messages.next()).toBe("m3");
  expect(app.gaps.length).toBe(0);
  expect(server.paths).toEqual(["/ws", "/ws", "/sse", "/ws", "/ws", "/sse"]); // a WebSocket is tried each time
  app.client.stop();
  await second.closed;
});

test("a request that a stream cannot carry says so; a ping opens another stream", async () => {
  using server = startBlocked();
  using app = startClient({ url: server.url });
  await server.streams.next();
  for (let state = ""; state !== "connected"; ) state = await app.states.next();
  const error = await app.client.listConversations().catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({
    name: "HeraldRequestError",
    code: "not_supported",
    message: expect.stringContaining("WebSocket"),
  });
  await app.client.ping();
  expect(server.streams.length).toBe(1);
});

test("before a session expires, another stream with a fresh token takes over, and nothing is lost or doubled", async () => {
  using server = startBlocked();
  let tokens = 0;
  using app = startClient({ url: server.url, token: () => `token-${++tokens}` });
  const before = await server.streams.next();
  before.send(message("m1"));
  before.send({ session: { expires_at: "2026-11-20T13:06:00.000Z" } });
  const after = await server.streams.next();
  expect([after.headers.get("authorization"), after.headers.get("last-event-id")]).toEqual([
    `Bearer token-${tokens}`,
    "m1",
  ]);
  expect(before.headers.get("authorization")).not.toBe(after.headers.get("authorization"));
  before.send(message("m2"));
  expect(await app.messages.take(2)).toEqual(["m1", "m2"]);
  for (const id of ["m2", "m3"]) after.send(message(id));
  expect(await app.messages.next()).toBe("m3");
  await before.closed;
  expect(await app.states.take(3)).toEqual(["connecting", "reconnecting 1006", "connected"]);
  expect(app.states.length).toBe(0);
});

const problem = (status: number, code: string, headers = {}) =>
  new Response(JSON.stringify({ status, code, detail: `the detail of ${code}` }), {
    status,
    headers: { "Content-Type": "application/problem+json", ...headers },
  });

test("a stream that is forbidden is final, with the server's words", async () => {
  using server = startBlocked([problem(403, "forbidden")]);
  const reasons = createQueue<string | undefined>();
  using _app = startClient({
    url: server.url,
    onStateChange: (state, { reason }) => state === "closed" && reasons.push(reason),
  });
  expect(await reasons.next()).toBe("the detail of forbidden");
});

test("an error of another server in the same format is not a refusal", async () => {
  const foreign = Response.json(
    { type: "about:blank", title: "Unauthorized", status: 403 },
    { status: 403, headers: { "Content-Type": "application/problem+json" } },
  );
  using server = startBlocked([foreign]);
  using app = startClient({ url: server.url });
  expect(await app.errors.next()).toMatchObject({ message: expect.stringContaining("answered 403 with") });
  await server.streams.next();
});

test("a stream that is refused with 429 is tried again after the time of Retry-After", async () => {
  using server = startBlocked([problem(429, "rate_limited", { "Retry-After": "30" })]);
  const waits = createQueue<number>();
  using _app = startClient({
    url: server.url,
    onStateChange: (_state, { code, retryInMs = 0 }) => void (code === 4429 && waits.push(retryInMs)),
  });
  expect(await waits.next()).toBeGreaterThanOrEqual(30_000);
});

test.each([
  [200, "text/html"],
  [200, "application/json"],
  [204, "text/event-stream"],
  [302, "text/event-stream"],
  [404, "text/plain"],
])("an answer %i of %s is no session and no gap, but says what answered", async (status, type) => {
  const elsewhere = { Location: "http://127.0.0.1:1/", "Content-Type": type };
  const body = status === 204 ? null : "data: {}\n\n<h1>Sign in to the network</h1>";
  using server = startBlocked([new Response(body, { status, headers: elsewhere })]);
  using app = startClient({ url: server.url, since: "m0" });
  expect(await app.errors.next()).toMatchObject({
    name: "HeraldConnectionError",
    message: expect.stringMatching(
      new RegExp(`^${server.url}/sse answered ${status} with ${type} instead of .* proxy`),
    ),
  });
  const stream = await server.streams.next();
  expect(stream.headers.get("last-event-id")).toBe("m0");
  stream.send(message("m1"));
  expect(await app.messages.next()).toBe("m1");
  expect(app.gaps.length).toBe(0);
});

test.each(["\r", "\n", "\r\n"])(
  "no message is lost, whatever ends the lines (%j), separates words or cuts the bytes",
  async (end) => {
    const texts = ["a\u2028b\u2029c", "\u0085\u000b\u000c\u001c\u001d\u001e", "\ud83d\ude80 \u00e9 \ufeff"];
    // JSON may have U+2028 and U+2029 as they are.
    const frames = texts.map((body, index) => ({ message: { ...message(`m${index}`).message, body } }));
    const lines = frames.flatMap((frame) => [
      "event: message",
      "id: 1",
      ": a comment",
      `data: ${JSON.stringify(frame)}`,
      "",
    ]);
    const bytes = new TextEncoder().encode(`\ufeff${[":", "", ...lines, ""].join(end)}`);
    for (const size of [1, 7, bytes.length]) {
      const opened = Promise.withResolvers<ReadableStreamDefaultController<Uint8Array>>();
      const body = new ReadableStream<Uint8Array>({ start: (controller) => opened.resolve(controller) });
      using server = startBlocked([
        new Response(body, { headers: { "Content-Type": "Text/Event-Stream; charset=utf-8" } }),
      ]);
      const heard = createQueue<string>();
      using app = startClient({ url: server.url, onMessage: ({ _id, body }) => heard.push(`${_id} ${body}`) });
      const controller = await opened.promise;
      for (let at = 0; at < bytes.length; at += size) {
        controller.enqueue(bytes.slice(at, at + size));
        if (size === 1 && at % 64 === 0) await new Promise(setImmediate);
      }
      expect(await heard.take(3)).toEqual(texts.map((text, index) => `m${index} ${text}`));
      expect([app.client.since, app.errors.length]).toEqual(["m2", 0]);
    }
  },
);

test("without the fallback only WebSockets are tried", async () => {
  using server = startBlocked();
  using app = startClient({ url: server.url, fallback: false });
  for (let index = 0; index < 6; index += 1) await app.states.next();
  expect(new Set(server.paths)).toEqual(new Set(["/ws"]));
});

test("a WebSocket that opens and on which nothing arrives counts as one that does not open", async () => {
  const streams = createQueue<string | null>();
  using server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    idleTimeout: 0,
    fetch(request, self) {
      if (request.headers.has("upgrade")) return self.upgrade(request, { data: {} }) ? undefined : new Response("no");
      streams.push(request.headers.get("last-event-id"));
      const text = `data: ${JSON.stringify(message("m1"))}\n\n`;
      return new Response(text, { headers: { "Content-Type": "text/event-stream", "Herald-Recovered": "true" } });
    },
    websocket: { data: {}, message: () => undefined }, // a proxy that keeps every frame to itself
  });
  using app = startClient({ url: server.url.origin, since: "m0", timing: { requestTimeoutMs: 100 } });
  expect(await streams.next()).toBe("m0");
  expect(await app.messages.next()).toBe("m1");
  expect(app.gaps.length).toBe(0);
});
