import { describe, expect, test } from "bun:test";
import { connect, type Socket } from "node:net";
import { appendPayload } from "../../contract/messages/append.ts";
import { createOwner } from "../../lib/owner.ts";
import { contentOf } from "../fanout/event-facts.ts";
import { createEventStream, type EventStream } from "./event-stream.ts";
import { encodeForUser, encodePieces } from "./stream-frames.ts";

const kibibyte = 1024;
const frame = new Uint8Array(32 * kibibyte).fill(97);
const fail = (error: unknown) => expect.unreachable(String(error));

/** A stream behind a Bun server, and a client socket that has begun to read it and then stops. */
async function setUp(maxWaitingBytes: number, now = () => 0, blank = (_: Uint8Array) => new Uint8Array()) {
  const ends: string[] = [];
  const stream = createEventStream({
    owner: createOwner(fail),
    org: "o",
    maxWaitingBytes,
    databaseClock: { now },
    blank,
    encodePieces,
    onWaiting: () => undefined,
    onCut: () => void ends.push("cut"),
    onEnd: () => void ends.push("end"),
  });
  const server = Bun.serve({
    port: 0,
    idleTimeout: 0,
    fetch: () => new Response(stream.body),
    error: () => new Response(null, { status: 500 }),
  });
  stream.comment();
  const socket = connect(server.port ?? 0, "127.0.0.1");
  socket.on("error", () => undefined);
  const begun = new Promise<void>((resolve) =>
    socket.once("data", () => {
      socket.pause();
      resolve();
    }),
  );
  socket.write("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
  await begun;
  return {
    stream,
    ends,
    socket,
    async [Symbol.asyncDispose]() {
      socket.destroy();
      await server.stop(true);
    },
  };
}

/** Writes until the kernel takes no more; returns how many bytes it took. */
async function fill(stream: EventStream): Promise<number> {
  let written = 0;
  for (let taken = -1; taken !== stream.takings; ) {
    taken = stream.takings;
    stream.push(frame);
    written += frame.length;
    for (let turns = 0; turns < 10; turns++) await new Promise((resolve) => setImmediate(resolve));
  }
  return written - stream.waitingBytes();
}

async function readUntil(socket: Socket, stream: EventStream, waitingBytes: number): Promise<void> {
  socket.on("data", () => undefined);
  socket.resume();
  while (stream.waitingBytes() > waitingBytes) await new Promise((resolve) => setImmediate(resolve));
}

describe("an event stream", () => {
  test("counts bytes handed to Bun until the socket has taken them", async () => {
    await using set = await setUp(Number.POSITIVE_INFINITY);
    const { stream, socket } = set;
    await fill(stream);
    const before = stream.waitingBytes();
    expect(before).toBeWithin(frame.length, 4 * kibibyte * kibibyte);
    for (let index = 0; index < 20; index++) stream.push(frame);
    for (let turns = 0; turns < 100; turns++) await new Promise((resolve) => setImmediate(resolve));
    expect(stream.waitingBytes()).toBe(before + 20 * frame.length);
    expect(stream.isSlow).toBe(true);
    const ready = stream.isReadyForMore();
    await readUntil(socket, stream, 0);
    expect(await ready).toBe(true);
    expect(stream.waitingBytes()).toBe(0);
  });

  test("drops texts that are withdrawn while they wait, and their bytes, and writes the rest in order", async () => {
    await using set = await setUp(Number.POSITIVE_INFINITY);
    const { stream, socket } = set;
    await fill(stream);
    while (!stream.isSlow) stream.push(frame);
    const before = stream.waitingBytes();
    const write = (frame: string, text?: string) => stream.push(new TextEncoder().encode(frame), { text });
    write("[a]", "a");
    write("[b]", "b");
    write("[a edited]", "a");
    write("[end]");
    stream.withdraw(new Set(["a", "unknown"]));
    expect(stream.waitingBytes()).toBe(before + "[b][end]".length);
    let read = "";
    socket.on("data", (data: Buffer) => {
      read += data.toString("latin1").replaceAll(/a{2,}/g, "");
    });
    await readUntil(socket, stream, 0);
    while (!read.includes("[end]")) await new Promise((resolve) => setImmediate(resolve));
    expect(/\[.*\]/s.exec(read)?.[0].replaceAll(/\r\n[0-9a-f]*/g, "")).toBe("[b][end]");
    stream.withdraw(new Set(["b"])); // written already
    write("[c]", "c");
    while (!read.includes("[c]")) await new Promise((resolve) => setImmediate(resolve));
  });

  test("writes what is left of a frame, once, in place of a text that was withdrawn or has expired", async () => {
    let now = 0;
    const left = (frame: Uint8Array) => new TextEncoder().encode(new TextDecoder().decode(frame).replace(/\w+/, "-"));
    await using set = await setUp(Number.POSITIVE_INFINITY, () => now, left);
    const { stream, socket } = set;
    await fill(stream);
    while (!stream.isSlow) stream.push(frame);
    const before = stream.waitingBytes();
    const write = (frame: string, text?: string, expiresAt?: number) =>
      stream.push(new TextEncoder().encode(frame), { text, expiresAt });
    write("[first two]", "a");
    write("[expires]", "b", 1);
    write("[both once]", "a", 1);
    write("[end]");
    for (let times = 0; times < 2; times++) stream.withdraw(new Set(["a"]));
    expect(stream.waitingBytes()).toBe(before + "[- two][expires][- once][end]".length);
    now = 2;
    let read = "";
    socket.on("data", (data: Buffer) => {
      read += data.toString("latin1").replaceAll(/a{2,}/g, "");
    });
    await readUntil(socket, stream, 0);
    while (!read.includes("[end]")) await new Promise((resolve) => setImmediate(resolve));
    expect(/\[.*\]/s.exec(read)?.[0].replaceAll(/\r\n[0-9a-f]*/g, "")).toBe("[- two][-][- once][end]");
  });

  test("whose texts are all withdrawn goes on with what comes next", async () => {
    await using set = await setUp(Number.POSITIVE_INFINITY);
    const { stream, socket } = set;
    await fill(stream);
    const before = stream.waitingBytes();
    for (const text of ["a", "b"]) stream.push(frame, { text });
    const ready = stream.isReadyForMore();
    stream.withdraw(new Set(["a", "b"]));
    expect(stream.waitingBytes()).toBe(before);
    await readUntil(socket, stream, 0);
    expect(await ready).toBe(true);
    stream.push(frame);
    await readUntil(socket, stream, 0);
  });

  test("drops what has expired when its turn comes, and goes on with what comes next", async () => {
    let now = 0;
    await using set = await setUp(Number.POSITIVE_INFINITY, () => now);
    const { stream, socket } = set;
    await fill(stream);
    while (!stream.isSlow) stream.push(frame);
    const write = (frame: string, expiresAt?: number) =>
      stream.push(new TextEncoder().encode(frame), { text: frame, expiresAt });
    write("[ends]", 10);
    write("[lasts]", 11);
    write("[end]");
    now = 10;
    let read = "";
    socket.on("data", (data: Buffer) => {
      read += data.toString("latin1").replaceAll(/a{2,}/g, "");
    });
    await readUntil(socket, stream, 0);
    while (!read.includes("[end]")) await new Promise((resolve) => setImmediate(resolve));
    expect(/\[.*\]/s.exec(read)?.[0].replaceAll(/\r\n[0-9a-f]*/g, "")).toBe("[lasts][end]");
    expect(stream.waitingBytes()).toBe(0);
    write("[ends at once]", 10);
    expect(stream.waitingBytes()).toBe(0);
  });

  test("tells pieces of a message that wait one after the other as one, and counts their text once", async () => {
    await using set = await setUp(Number.POSITIVE_INFINITY);
    const { stream, socket } = set;
    await fill(stream);
    while (!stream.isSlow) stream.push(frame);
    const encode = (text: string) => new TextEncoder().encode(text);
    const write = (offset: number, text: string, done = false, id = "m") => {
      const payload = appendPayload({ id, cid: "c", from: "a", offset, text, done, t: 7 });
      const event = { kind: "append" as const, id: `e${offset}`, payload, expiresAt: undefined };
      stream.push(encodeForUser(event), contentOf(event));
    };
    const many = 1_000;
    write(0, "0");
    const before = stream.waitingBytes();
    for (let offset = 1; offset < many; offset++) write(offset, String(offset % 10));
    expect(stream.waitingBytes()).toBe(before + many - 1);
    stream.push(encode("[between]"), { text: undefined });
    write(many, "é");
    write(0, "gone", false, "n");
    write(4, "gone, too", false, "n");
    stream.withdraw(new Set(["n"]));
    write(many + 1, "!", true);
    stream.push(encode("[end]"));
    let read = Buffer.alloc(0);
    socket.on("data", (data: Buffer) => {
      read = Buffer.concat([read, data]);
    });
    await readUntil(socket, stream, 0);
    while (!read.includes("[end]")) await new Promise((resolve) => setImmediate(resolve));
    const text = Array.from({ length: many }, (_, offset) => offset % 10).join("");
    const told = (offset: number, words: string, done: boolean) =>
      `event: message_append\ndata: ${appendPayload({ id: "m", cid: "c", from: "a", offset, text: words, done, t: 7 })}\n\n`;
    const frames = [told(0, text, false), "[between]", told(many, "é", false), told(many + 1, "!", true), "[end]"];
    const heard = read.toString().replaceAll(/\r\n[0-9a-f]+\r\n/g, "");
    expect(heard.slice(heard.indexOf("event:")).trimEnd()).toBe(frames.join(""));
  });

  test("is cut at its limit, with everything waiting", async () => {
    await using set = await setUp(512 * kibibyte);
    const { stream, ends } = set;
    await fill(stream);
    while (stream.isOpen && stream.waitingBytes() + frame.length <= 512 * kibibyte) stream.push(frame);
    expect(stream.isOpen).toBe(true);
    stream.push(frame);
    expect([stream.isOpen, stream.waitingBytes(), ends]).toEqual([false, 0, ["cut", "end"]]);
  });

  test("when ended, hands out the rest to a reader that keeps up, and cuts one that is far behind", async () => {
    await using near = await setUp(Number.POSITIVE_INFINITY);
    near.stream.push(frame);
    near.stream.end();
    await using far = await setUp(Number.POSITIVE_INFINITY);
    await fill(far.stream);
    while (!far.stream.isSlow) far.stream.push(frame);
    far.stream.end();
    expect([near.ends, far.ends]).toEqual([["end"], ["cut", "end"]]);
  });
});

test("cut before its response begins, ends the connection and prints nothing", async () => {
  const script = `
    import { createOwner } from "${new URL("../../lib/owner.ts", import.meta.url).pathname}";
    import { createEventStream } from "${new URL("./event-stream.ts", import.meta.url).pathname}";
    const ignore = () => undefined;
    const options = { owner: createOwner(ignore), org: "o", maxWaitingBytes: 1, databaseClock: Date, onWaiting: ignore, onCut: ignore, onEnd: ignore };
    const stream = createEventStream(options);
    stream.comment();
    const server = Bun.serve({ port: 0, hostname: "127.0.0.1", development: false, fetch: () => new Response(stream.body) });
    console.log(await fetch(server.url).then(({ status }) => status, ({ code }) => code));
    await server.stop(true);`;
  const child = Bun.spawn([process.execPath, "-e", script], { stdout: "pipe", stderr: "pipe" });
  const [printed, errors] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
  expect([printed.trim(), errors]).toEqual(["ECONNRESET", ""]);
});
