import { expect, test } from "bun:test";
import { createAdmin } from "../admin.ts";
import type { BatchAnswer } from "./batch.ts";

const encode = (text: string) => new TextEncoder().encode(text);

/** A server that answers each line of a batch as `answer` says; `undefined` breaks the response off. */
function startBatchServer(answer: (line: string, number: number) => object | "end" | undefined) {
  const lines: string[] = [];
  const urls: string[] = [];
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch(request) {
      const { pathname, search } = new URL(request.url);
      urls.push(pathname + search);
      const body = new ReadableStream<Uint8Array>({
        async start(controller) {
          controller.enqueue(encode("")); // the response begins
          let rest = "";
          const decoder = new TextDecoder();
          for await (const piece of request.body ?? []) {
            const parts = (rest + decoder.decode(piece, { stream: true })).split("\n");
            rest = parts.pop() ?? "";
            for (const line of parts) {
              lines.push(line);
              const told = answer(line, lines.length);
              if (told === undefined) return controller.error();
              if (told === "end") return controller.close();
              controller.enqueue(encode(`${JSON.stringify(told)}\n`));
            }
          }
          controller.close();
        },
      });
      return new Response(body, { headers: { "Content-Type": "application/x-ndjson" } });
    },
  });
  const admin = createAdmin({ url: server.url.origin, key: "k" });
  return { admin, lines, urls, [Symbol.dispose]: () => void server.stop(true) };
}

const envelopeOf = (body: string, id?: string) => ({
  organizationId: "o",
  senderId: "u",
  message: { cid: "c", body, ...(id !== undefined && { id }) },
});
const stored = (_: string, line: number) => ({ line, status: 201, ask: { mid: "m", server_mid: "s", t: 1 } });

async function all(answers: AsyncGenerator<BatchAnswer, void>): Promise<BatchAnswer[]> {
  const taken: BatchAnswer[] = [];
  for await (const answer of answers) taken.push(answer);
  return taken;
}

test("a batch gives an id to each send that has none, and yields the answers in order", async () => {
  using server = startBatchServer(stored);
  const sends = Array.from({ length: 120 }, (_, index) => envelopeOf(`${index}`, index === 0 ? "mine" : undefined));
  const answers = await all(server.admin.sendBatch(sends, { rate: 50, dryRun: true }));
  expect(answers.map(({ line }) => line)).toEqual(sends.map((_, index) => index + 1));
  expect(server.urls).toEqual(["/admin/message/batch?rate=50&dry_run=true"]);
  const ids = server.lines.map((line) => JSON.parse(line).message.id);
  expect(ids[0]).toBe("mine");
  expect(new Set(ids).size).toBe(120);
});

test("answers come while sends are still to be made", async () => {
  using server = startBatchServer(stored);
  let isAnswered = Promise.withResolvers<void>();
  async function* sends() {
    for (let made = 0; made < 3; made++) {
      yield { organizationId: "o", senderId: "u", messageSystem: { uids: ["u"] } };
      await isAnswered.promise;
      isAnswered = Promise.withResolvers();
    }
  }
  let answered = 0;
  for await (const { line } of server.admin.sendBatch(sends())) {
    expect(line).toBe(++answered);
    isAnswered.resolve();
  }
  expect(server.lines.map((line) => JSON.parse(line).messageSystem.id.length)).toEqual([36, 36, 36]);
});

test("a batch that ends early throws, and says why and where", async () => {
  const problem = { status: 503, code: "unavailable", detail: "this node is shutting down" };
  using server = startBatchServer((line, number) =>
    number < 3 ? stored(line, number) : { done: false, line: 3, problem },
  );
  const answers = server.admin.sendBatch(Array.from({ length: 5 }, () => envelopeOf("x")));
  for (const line of [1, 2]) expect((await answers.next()).value).toMatchObject({ line });
  await expect(answers.next()).rejects.toMatchObject({
    status: 503,
    code: "unavailable",
    detail: "the batch ended before line 3 was answered: this node is shutting down",
  });
});

test.each(["end", undefined] as const)("a response that ends too soon (%p) is told as unreachable", async (how) => {
  using server = startBatchServer((line, number) => (number < 3 ? stored(line, number) : how));
  const answers = all(server.admin.sendBatch(Array.from({ length: 5 }, () => envelopeOf("x"))));
  await expect(answers).rejects.toMatchObject({ status: 0, code: "unreachable" });
});

test("timers and sockets have their turn while a source is sent that never makes anyone wait", async () => {
  const enough = new Error("enough");
  let made = 0;
  function* endless() {
    while (made++ < 5_000_000) yield envelopeOf("x");
  }
  // A socket that takes everything at once, as that of Node 20 does while the server keeps up.
  async function fetch(_url: string, { body, signal }: RequestInit): Promise<Response> {
    if (!(body instanceof ReadableStream)) throw new Error("no stream is sent");
    const reader = body.getReader();
    for (;;) {
      if ((await reader.read()).done) throw new Error("everything was sent before the timer fired");
      signal?.throwIfAborted();
    }
  }
  const over = new AbortController();
  setTimeout(() => over.abort(enough), 1);
  const admin = createAdmin({ url: "http://herald.test", key: "k", fetch });
  await expect(all(admin.sendBatch(endless(), { signal: over.signal }))).rejects.toBe(enough);
});
