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
  using app = startClient({ url: server.url, token: () => `token ${++tokens}` });
  const before = await server.streams.next();
  before.send(message("m1"));
  before.send({ session: { expires_at: "2026-11-20T13:06:00.000Z" } });
  const after = await server.streams.next();
  expect([after.headers.get("authorization"), after.headers.get("last-event-id")]).toEqual([
    `Bearer token ${tokens}`,
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

test("a refused stream is final, with the server's words", async () => {
  using server = startBlocked([problem(401, "unauthorized")]);
  const reasons = createQueue<string | undefined>();
  using _app = startClient({
    url: server.url,
    onStateChange: (state, { reason }) => state === "closed" && reasons.push(reason),
  });
  expect(await reasons.next()).toBe("the detail of unauthorized");
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

test("what answers but is no Herald server is told as such", async () => {
  using server = startBlocked([new Response("Not found", { status: 404 })]);
  using app = startClient({ url: server.url });
  expect(await app.errors.next()).toMatchObject({
    message: `${server.url}/sse answered 404; it may not be a Herald server`,
  });
});

test("without the fallback only WebSockets are tried", async () => {
  using server = startBlocked();
  using app = startClient({ url: server.url, fallback: false });
  for (let index = 0; index < 6; index += 1) await app.states.next();
  expect(new Set(server.paths)).toEqual(new Set(["/ws"]));
});
