import { describe, expect, test } from "bun:test";
import { connect } from "node:net";
import { openRawSocket } from "../../harness/clients/raw-socket.ts";
import type { Event, SocketResponse } from "../../harness/clients/wire.ts";
import { within } from "../../harness/deadline.ts";
import { useHerald } from "../../harness/servers/herald.ts";
import { createOrganization, type Organization } from "../../harness/servers/organization.ts";

const herald = useHerald({
  env: {
    HERALD_LIMIT_REQUESTS_PER_SECOND: "0",
    HERALD_LIMIT_ORGANIZATION_REQUESTS_PER_SECOND: "0",
    HERALD_LIMIT_REQUESTS_BURST: "0",
    HERALD_LIMIT_RECOVERY_MESSAGES: "5000",
  },
});

// So much is missed that its replay cannot end while the client does not read.
const BODY = "x".repeat(60_000);
const MISSED = 350;

/** A client that has begun to recover and does not read on until `finish`, which returns everything it was sent. */
type Stalled = { finish(last: string): Promise<string[]>; ended: Promise<unknown>; drop(): void };

/** Identifies an event by its id, or by that of its system message. */
const nameOf = (event: Event) => event.message?._id ?? event.system_message?._id ?? JSON.stringify(event);

async function stallSocket(org: Organization, uid: string, since: string): Promise<Stalled> {
  const heard: string[] = [];
  const isAnswered = Promise.withResolvers<SocketResponse>();
  const waiting = new Map<string, () => void>();
  const onText = (text: string) => {
    const frame = JSON.parse(text) as Event & { response?: SocketResponse };
    if (frame.response !== undefined) return isAnswered.resolve(frame.response);
    heard.push(nameOf(frame));
    waiting.get(nameOf(frame))?.();
  };
  const raw = await openRawSocket(herald().url, { onText });
  raw.sendText({ request: { connect: { token: await org.token(uid), since }, id: "c" } });
  expect((await within(isAnswered.promise, "the response to connect")).recovered).toBe(true);
  raw.pause();
  return {
    ended: raw.ended,
    drop: raw.cut,
    async finish(last) {
      const isThere = new Promise<void>((resolve) => void waiting.set(last, resolve));
      raw.resume();
      await within(
        Promise.race([heard.includes(last) ? undefined : isThere, raw.ended]),
        `${last}; ${heard.length} events came`,
      );
      return heard;
    },
  };
}

async function stallStream(org: Organization, uid: string, since: string): Promise<Stalled> {
  const { hostname, port, host } = new URL(herald().url);
  const socket = connect(Number(port), hostname);
  const begun = Promise.withResolvers<void>();
  const ended = Promise.withResolvers<void>();
  let bytes: Buffer[] = [];
  let onData = () => {};
  socket.on("error", () => undefined);
  socket.on("close", () => ended.resolve());
  socket.on("data", (data: Buffer) => {
    if (bytes.length === 0) socket.pause();
    bytes.push(data);
    begun.resolve();
    onData();
  });
  const headers = [
    `Host: ${host}`,
    "Connection: close",
    `Authorization: Bearer ${await org.token(uid)}`,
    `Last-Event-ID: ${since}`,
  ];
  socket.write(`GET /sse HTTP/1.1\r\n${headers.join("\r\n")}\r\n\r\n`);
  await within(begun.promise, "the head of the stream");
  const text = () => {
    const all = Buffer.concat(bytes);
    bytes = [all];
    const start = all.indexOf("\r\n\r\n") + 4;
    // HTTP chunks: a size in hexadecimal, the bytes, and so on.
    const parts: Buffer[] = [];
    for (let at = start; at < all.length; ) {
      const end = all.indexOf("\r\n", at);
      if (end < 0) break;
      const size = Number.parseInt(all.subarray(at, end).toString("latin1"), 16);
      parts.push(all.subarray(end + 2, end + 2 + size));
      at = end + 2 + size + 2;
    }
    return Buffer.concat(parts).toString("utf8");
  };
  const heard = () =>
    [...text().matchAll(/^data: (.*)\n\n/gm)].map(([, data = ""]) => nameOf(JSON.parse(data) as Event));
  return {
    ended: ended.promise,
    drop: () => socket.destroy(),
    async finish(last) {
      const isThere = new Promise<void>((resolve) => {
        onData = () => {
          if (bytes.at(-1)?.includes(last)) resolve();
        };
      });
      socket.resume();
      await within(Promise.race([isThere, ended.promise]), `${last} on the stream`);
      return heard();
    },
  };
}

for (const [name, stall] of [
  ["a socket", stallSocket],
  ["a stream", stallStream],
] as const) {
  describe(`${name} that recovers slowly`, () => {
    test.each([
      ["little", 0],
      ["much", 300],
    ])(
      "hears what happens meanwhile, %s of it, after what it missed, with its membership of the time",
      async (_, flood) => {
        const org = await createOrganization(herald());
        const [room, joined, left] = [
          await org.conversation(["sender", "alice"]),
          await org.conversation(["sender"]),
          await org.conversation(["sender", "alice"]),
        ];
        const send = async (cid: string, body = "x") => (await org.sent("sender", { cid, body })).server_mid;
        const start = await send(room);
        const expected: string[] = [];
        const ofLeft = new Set<string>();
        for (let index = 0; index < MISSED; index += 1) {
          const id = await send(index % 7 === 0 ? left : room, BODY);
          expected.push(id);
          if (index % 7 === 0) ofLeft.add(id);
        }
        const alice = await stall(org, "alice", start);

        for (let index = 0; index < 10; index += 1) expected.push(await send(room));
        await send(joined);
        await org.join(joined, "alice");
        expected.push(await send(joined), await send(left));
        expected.push((await org.sentSystem("sender", { id: `${name} s`, uids: ["alice", "bob"] })).mid);
        await org.sentSystem("sender", { id: `${name} for bob`, uids: ["bob"] });
        await org.leave(left, "alice");
        await send(left);
        expected.push(await send(joined), await send(room));
        await org.leave(joined, "alice");
        await send(joined);
        for (let index = 0; index < flood; index += 1) expected.push(await send(room, index % 3 === 0 ? BODY : "x"));
        const last = await send(room);
        expected.push(last);

        const heard = await alice.finish(last);
        // Missed messages of a conversation may be left out once the participant has left it, as happened here.
        const surely = (ids: string[]) => ids.filter((id) => !ofLeft.has(id));
        expect(surely(heard).length).toBe(surely(expected).length);
        expect(surely(heard)).toEqual(surely(expected));
        expect(heard).toEqual(expected.filter((id) => heard.includes(id)));
        alice.drop();
      },
    );

    test("is closed if its user is signed out meanwhile, and gets no more of what it missed", async () => {
      const org = await createOrganization(herald());
      const room = await org.conversation(["sender", "alice"]);
      const send = async (body: string) => (await org.sent("sender", { cid: room, body })).server_mid;
      const start = await send("x");
      for (let index = 0; index < MISSED; index += 1) await send(BODY);
      const alice = await stall(org, "alice", start);
      await herald().admin("DELETE", org.path("users", "alice", "sessions"));
      const heard = await alice.finish("nothing");
      await within(alice.ended, "the end of the connection");
      // What the kernel and the server's own buffer held may have arrived, the rest must not.
      expect(heard.filter((name) => !name.startsWith('{"session"')).length).toBeLessThan(MISSED);
    });
  });
}
