import { describe, expect, test } from "bun:test";
import { connect, type Socket } from "node:net";
import { createLongAnswers, type Untaken } from "./long-answers.ts";

const mebibyte = 2 ** 20;
const unused = () => {
  throw new Error("not used here");
};

/** A server whose every response has `length` bytes, and its counters. */
function setUp(length: number) {
  const bytes = new Uint8Array(length).map((_, index) => index % 251);
  const watched = new Set<Untaken>();
  const begun = Promise.withResolvers<Untaken>();
  const ended = Promise.withResolvers<void>();
  const seen = { cuts: 0, endings: 0, waitingBytes: 0 };
  const longAnswers = createLongAnswers({
    backlog: {
      watch(answer) {
        watched.add(answer);
        seen.waitingBytes += answer.waitingBytes();
        begun.resolve(answer);
      },
      forget({ owner }) {
        for (const answer of watched) if (answer.owner === owner) watched.delete(answer);
        if (watched.size === 0) ended.resolve();
      },
      onCut: () => void seen.cuts++,
    },
    onError: unused,
  });
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    error: () => undefined,
    fetch(request, running) {
      const endSoon = () => {
        seen.endings++;
        running.timeout(request, 1);
      };
      return new Response(longAnswers.bodyOf(bytes, { org: "o", request, endSoon }));
    },
  });
  return { bytes, watched, begun: begun.promise, ended: ended.promise, seen, server };
}

/** Sends a request and reads nothing. */
async function askDeaf(port: number | undefined): Promise<Socket> {
  const socket = connect(port ?? 0, "127.0.0.1");
  socket.on("error", () => undefined);
  await new Promise<void>((resolve) => socket.once("connect", () => resolve()));
  socket.pause();
  socket.write("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
  return socket;
}

describe("a long response", () => {
  test("arrives unchanged, counts towards its organization until it is taken, and leaves the connection to the next", async () => {
    const { bytes, watched, begun, ended, seen, server } = setUp(3 * mebibyte + 1);
    await using _ = server;
    const response = await fetch(server.url);
    const answer = await begun;
    expect([answer.org, seen.waitingBytes]).toEqual(["o", bytes.length]); // when it begins: the kernel may have taken all by now
    expect(Bun.hash(await response.bytes())).toBe(Bun.hash(bytes));
    await ended;
    expect([answer.waitingBytes(), watched.size]).toEqual([0, 0]);
    expect(answer.takings).toBe(Math.ceil(bytes.length / 65_536) + 1);
    expect((await (await fetch(server.url)).bytes()).length).toBe(bytes.length);
  });

  test("that nobody reads counts as a whole, goes no further, and can be cut", async () => {
    const { bytes, watched, begun, seen, server } = setUp(64 * mebibyte);
    await using _ = server;
    const socket = await askDeaf(server.port);
    const answer = await begun;
    await untilSteady(() => answer.takings);
    expect(answer.waitingBytes()).toBe(bytes.length);
    expect(answer.takings).toBeLessThan(bytes.length / 65_536);
    const closed = new Promise<void>((resolve) => socket.once("close", () => resolve()));
    answer.cut();
    answer.cut();
    expect([answer.waitingBytes(), watched.size, seen.cuts, seen.endings]).toEqual([0, 0, 1, 1]);
    let read = 0;
    socket.on("data", (data: Buffer) => {
      read += data.length;
    });
    socket.resume();
    await closed;
    expect(read).toBeLessThan(bytes.length);
  });

  test("is released if its caller hangs up", async () => {
    const { begun, ended, seen, server } = setUp(64 * mebibyte);
    await using _ = server;
    const socket = await askDeaf(server.port);
    const answer = await begun;
    await untilSteady(() => answer.takings);
    socket.destroy();
    await ended;
    expect([answer.waitingBytes(), seen.cuts]).toEqual([0, 0]);
  });
});

/** Resolves once a number has stayed the same for many turns of the event loop. */
async function untilSteady(read: () => number): Promise<void> {
  for (let [last, same] = [read(), 0]; same < 200; ) {
    await new Promise((resolve) => setTimeout(resolve, 1));
    same = read() === last && last > 0 ? same + 1 : 0;
    last = read();
  }
}
