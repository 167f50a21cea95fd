import { expect, test } from "bun:test";
import { message, systemMessage } from "../testing/app.ts";
import { createQueue } from "../testing/queue.ts";
import { createAdmin } from "./admin.ts";
import type { FeedEvent, FeedState } from "./feed.ts";

/** A server whose feeds the test plays: a refusal is given to the next request, otherwise it gets a stream. */
function startFeedServer(...refusals: Response[]) {
  const requests = createQueue<{ url: string; key: string | null }>();
  const streams = createQueue<ReadableStreamDefaultController<Uint8Array>>();
  const gone = createQueue<void>();
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    idleTimeout: 0,
    fetch(request) {
      const { pathname, search } = new URL(request.url);
      requests.push({ url: pathname + search, key: request.headers.get("Admin-Api-Key") });
      const refusal = refusals.shift();
      if (refusal !== undefined) return refusal;
      request.signal.addEventListener("abort", () => gone.push());
      const body = new ReadableStream<Uint8Array>({
        start: (controller) => {
          controller.enqueue(encode(":\n\n"));
          streams.push(controller);
        },
      });
      return new Response(body, { headers: { "Content-Type": "text/event-stream" } });
    },
  });
  const admin = createAdmin({ url: server.url.origin, key: "k", retries: 2, timeoutMs: 2_000 });
  return { admin, requests, streams, gone, refusals, [Symbol.dispose]: () => void server.stop(true) };
}

const encode = (text: string) => new TextEncoder().encode(text);
const frame = (event: object, id = "1") => encode(`event: x\nid: ${id}\ndata: ${JSON.stringify(event)}\n\n`);
const refusal = (status: number, code: string, headers: Record<string, string> = {}) =>
  Response.json(
    { code, detail: code },
    { status, headers: { "Content-Type": "application/problem+json", ...headers } },
  );

test("a feed gives the events as they are on the wire, with the filters in the address", async () => {
  using server = startFeedServer();
  const feed = server.admin.events("a/b", { kind: "message", cid: "c d", uid: "u" });
  const first = feed.next();
  const stream = await server.streams.next();
  stream.enqueue(frame(message("m1")));
  stream.enqueue(frame({ of: "a newer server" }));
  stream.enqueue(frame(systemMessage("alice", "s1")));
  expect((await first).value).toEqual(message("m1"));
  expect((await feed.next()).value).toEqual(systemMessage("alice", "s1"));
  const { url, key } = await server.requests.next();
  expect([url, key]).toEqual(["/admin/organizations/a%2Fb/events?kind=message&cid=c%20d&uid=u", "k"]);
});

test("a feed that breaks is opened again, and says that it was away", async () => {
  using server = startFeedServer();
  const states: FeedState[] = [];
  const feed = server.admin.events("o", { onStateChange: (state) => states.push(state) });
  const ids: unknown[] = [];
  const take = async () => {
    const { value } = await feed.next();
    ids.push((value as Extract<FeedEvent, { message: object }>).message._id);
  };
  const first = take();
  const stream = await server.streams.next();
  stream.enqueue(frame(message("m1")));
  await first;
  const second = take();
  stream.close();
  (await server.streams.next()).enqueue(frame(message("m2")));
  await second;
  expect(ids).toEqual(["m1", "m2"]);
  expect(states).toEqual(["connected", "reconnecting", "connected"]);
});

test("a feed goes on after the last event that it yielded, or after the place where it began", async () => {
  using server = startFeedServer();
  const cursors: string[] = [];
  const feed = server.admin.events("o", {
    types: ["message", "message_read"],
    after: "7-a",
    onCursor: (cursor) => cursors.push(cursor),
  });
  expect(feed.cursor).toBe("7-a");
  const first = feed.next();
  const stream = await server.streams.next();
  stream.enqueue(encode(":\nid: 8-b\n\n"));
  stream.enqueue(frame(message("m1"), "9-c"));
  stream.enqueue(frame(message("m2"), "10-d"));
  await first;
  expect(feed.cursor).toBe("9-c");
  await feed.next();
  expect(feed.cursor).toBe("10-d");
  stream.enqueue(encode(":\nid: 11-e\n\n"));
  const third = feed.next();
  await Bun.sleep(0);
  stream.close();
  (await server.streams.next()).enqueue(frame(message("m3"), "12-f"));
  await third;
  const urls = [await server.requests.next(), await server.requests.next()].map(({ url }) => url.split("?")[1]);
  expect(urls).toEqual(["types=message,message_read&after=7-a", "types=message,message_read&after=11-e"]);
  expect(cursors).toEqual(["8-b", "9-c", "10-d", "11-e", "12-f"]);
});

test("a feed of a user cannot go on where it was, and shows what comes", async () => {
  using server = startFeedServer();
  const feed = server.admin.events("o", { uid: "u" });
  const first = feed.next();
  const stream = await server.streams.next();
  stream.enqueue(frame(message("m1"), "9-c"));
  await first;
  const second = feed.next();
  stream.close();
  (await server.streams.next()).enqueue(frame(message("m2"), "12-f"));
  await second;
  const urls = [await server.requests.next(), await server.requests.next()].map(({ url }) => url.split("?")[1]);
  expect(urls).toEqual(["uid=u", "uid=u"]);
});

test("a feed on which nothing comes any more is taken for dead", async () => {
  using server = startFeedServer();
  const feed = server.admin.events("o", { silentMs: 500 });
  const first = feed.next();
  await server.streams.next();
  const again = await server.streams.next();
  again.enqueue(frame(message("m1")));
  expect((await first).value).toEqual(message("m1"));
});

test.each([
  [401, "unauthorized"],
  [403, "insufficient_scope"],
  [404, "organization_not_found"],
])("a feed that is refused with %d ends with that", async (status, code) => {
  using server = startFeedServer(refusal(status, code));
  await expect(server.admin.events("o").next()).rejects.toMatchObject({ status, code });
  expect(server.requests.length).toBe(1);
});

test("a first connection is tried a few times, like any call", async () => {
  using server = startFeedServer(refusal(503, "unavailable"), refusal(503, "unavailable"), refusal(503, "unavailable"));
  await expect(server.admin.events("o").next()).rejects.toMatchObject({ status: 503 });
  expect(server.requests.length).toBe(3);
});

test("a feed that is refused when it is opened again ends with that", async () => {
  using server = startFeedServer();
  const feed = server.admin.events("o");
  const first = feed.next();
  const stream = await server.streams.next();
  stream.enqueue(frame(message("m1")));
  await first;
  server.refusals.push(refusal(401, "unauthorized"));
  const second = feed.next();
  stream.close();
  await expect(second).rejects.toMatchObject({ status: 401, code: "unauthorized" });
});

test.each([
  [429, "rate_limited"],
  [503, "unavailable"],
])("a feed that is refused with %d %s stays away for as long as Retry-After says", async (status, code) => {
  using server = startFeedServer();
  const abort = new AbortController();
  const waits = createQueue<number>();
  const feed = server.admin.events("o", {
    signal: abort.signal,
    onStateChange: (_state, { error, retryInMs }) => void (error?.status === status && waits.push(retryInMs ?? 0)),
  });
  const first = feed.next();
  const stream = await server.streams.next();
  stream.enqueue(frame(message("m1")));
  await first;
  server.refusals.push(refusal(status, code, { "Retry-After": "7" }));
  const second = feed.next();
  stream.close();
  expect(await waits.next()).toBeGreaterThanOrEqual(7_000);
  abort.abort();
  await second;
});

test("leaving the loop, or the signal, ends the request", async () => {
  using server = startFeedServer();
  const abort = new AbortController();
  const isConnected = Promise.withResolvers<void>();
  const feed = server.admin.events("o", { signal: abort.signal, onStateChange: () => isConnected.resolve() });
  const first = feed.next();
  await server.streams.next();
  await isConnected.promise; // the answer has begun: who leaves before that is told of late, or not at all
  abort.abort();
  expect(await first).toEqual({ value: undefined, done: true });
  await server.gone.next();

  const looping = (async () => {
    for await (const _event of server.admin.events("o")) break;
  })();
  (await server.streams.next()).enqueue(frame(message("m1")));
  await looping;
  await server.gone.next();
});

test("another answer than a feed is told as such", async () => {
  using server = startFeedServer(new Response("<h1>hello</h1>"));
  await expect(server.admin.events("o").next()).rejects.toMatchObject({ code: "not_herald" });
});
