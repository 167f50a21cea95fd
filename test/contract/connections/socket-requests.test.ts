import { describe, expect, test } from "bun:test";
import { OPCODE, openRawSocket } from "../../harness/clients/raw-socket.ts";
import { expectClosed, openSocket, type Socket } from "../../harness/clients/socket.ts";
import { useHerald } from "../../harness/servers/herald.ts";
import { createOrganization } from "../../harness/servers/organization.ts";

const herald = useHerald();

/** Expects an error response without an id; the server may then close with 4400, but need not. */
async function expectUnreadable(socket: Socket, frame: string | object): Promise<void> {
  socket.send(frame);
  const response = await socket.responses.next(undefined, `an error response to ${JSON.stringify(frame)}`);
  expect(response.id).toBeUndefined();
  expect(response.error).toEqual({ status: expect.any(Number), code: expect.any(String), message: expect.any(String) });
  expect([400, 413, 422]).toContain(response.error?.status ?? 0);
}

describe("a request over a WebSocket", () => {
  test("is answered once, under the id it came with, a string or a number", async () => {
    const org = await createOrganization(herald());
    using alice = await org.socket("alice");
    for (const id of ["1", "", "a b", "👋", "x".repeat(64), 1, 0, -7, 2.5, 9_007_199_254_740_991]) {
      expect(await alice.request("ping", {}, id)).toEqual({ id, pong: {} });
    }
    await Promise.all(Array.from({ length: 20 }, (_, index) => alice.request("ping", {}, `p${index}`)));
    expect(alice.responses.all).toEqual([]);
  });

  test("may have its members in any order", async () => {
    const org = await createOrganization(herald());
    using alice = await org.socket("alice");
    alice.send('{"request":{"id":"first","ping":{}}}');
    expect(await alice.responses.next()).toEqual({ id: "first", pong: {} });
  });

  test("that is unknown, or has unknown content, gets an error under its id, and the socket stays open", async () => {
    const org = await createOrganization(herald());
    const cid = await org.conversation(["alice"]);
    using alice = await org.socket("alice");
    const wrong: [string, unknown][] = [
      ["nope", {}],
      ["message", { cid, body: "x" }],
      ["__proto__", {}],
      ["toString", {}],
      ["ping", { extra: 1 }],
      ["ping", []],
      ["ping", null],
      ["conversation_list", { limit: "5" }],
      ["conversation_list", { limit: 0 }],
      ["conversation_list", { limit: 101 }],
      ["conversation_list", { cursor: "nonsense" }],
      ["conversation_list", { lmit: 5 }],
      ["message_list", {}],
      ["message_list", { cid: 1 }],
      ["message_list", { cid: "" }],
      ["message_list", { cid, limit: 0 }],
      ["message_list", { cid, limit: 101 }],
      ["message_list", { cid, limit: 1.5 }],
      ["message_list", { cid, since: "x" }],
    ];
    for (const [op, payload] of wrong) {
      const id = `${op} ${JSON.stringify(payload)}`;
      alice.send(`{"request":{${JSON.stringify(op)}:${JSON.stringify(payload)},"id":${JSON.stringify(id)}}}`);
      const response = await alice.responses.next(undefined, `the response to ${id}`);
      expect(response).toEqual({
        id,
        error: { status: expect.any(Number), code: expect.any(String), message: expect.any(String) },
      });
      expect([400, 422]).toContain(response.error?.status ?? 0);
    }
    await alice.expectSilence();
  });

  test("that cannot be read gets an error without an id", async () => {
    const org = await createOrganization(herald());
    const frames = [
      "[]",
      "1",
      "null",
      '"x"',
      "{}",
      '{"request":1}',
      '{"request":{}}',
      '{"request":{"ping":{}}}',
      '{"request":{"ping":{},"id":null}}',
      '{"request":{"ping":{},"id":{}}}',
      '{"request":{"ping":{},"id":true}}',
      '{"response":{"id":"1"}}',
      '{"request":{"ping":{},"id":"1"},"extra":1}',
    ];
    const answerTo = async (frame: string) => {
      using alice = await org.socket("alice");
      alice.send(frame);
      return await alice.responses.next(undefined, `an error response to ${frame}`);
    };
    const message = expect.stringMatching(/./);
    for (const frame of ["not json", ""])
      expect(await answerTo(frame)).toEqual({ error: { status: 400, code: "malformed_json", message } });
    for (const frame of frames)
      expect(await answerTo(frame)).toEqual({ error: { status: 400, code: "bad_request", message } });
    // An id that can be read is returned.
    const named = await answerTo('{"request":{"id":"1"}}');
    expect(named).toEqual({ id: "1", error: { status: 400, code: "bad_request", message } });
  });

  test("with two operations, a repeated member, or too much nesting is refused", async () => {
    const org = await createOrganization(herald());
    using alice = await org.socket("alice");
    for (const frame of [
      '{"request":{"ping":{},"conversation_list":{},"id":"1"}}',
      '{"request":{"ping":{},"ping":{},"id":"1"}}',
      `{"request":{"ping":${"[".repeat(60)}${"]".repeat(60)},"id":"1"}}`,
    ]) {
      using socket = await org.socket("alice");
      socket.send(frame);
      expect((await socket.responses.next()).error).toBeDefined();
    }
    await alice.expectSilence();
  });

  test("before connect is refused, and reveals nothing", async () => {
    const org = await createOrganization(herald());
    const cid = await org.conversation(["alice"]);
    for (const [op, payload] of [["conversation_list", {}] as const, ["message_list", { cid }] as const]) {
      using socket = await openSocket(herald().url);
      const response = await socket.request(op, payload);
      expect(response.conversations).toBeUndefined();
      expect(response.messages).toBeUndefined();
      expect(response.error?.status).toBe(401);
    }
    using socket = await openSocket(herald().url);
    await expectUnreadable(socket, "nonsense");
  });

  test("may not be binary: the socket is closed with 4400", async () => {
    const org = await createOrganization(herald());
    using alice = await org.socket("alice");
    alice.send(new TextEncoder().encode('{"request":{"ping":{},"id":"1"}}'));
    await expectClosed(alice, 4400);
  });

  test("may have 64 KiB; one byte more closes the socket with 1009", async () => {
    const org = await createOrganization(herald());
    using alice = await org.socket("alice");
    const frame = (bytes: number) => {
      const text = '{"request":{"ping":{},"id":"big"}}';
      return text + " ".repeat(bytes - text.length);
    };
    alice.send(frame(65_536));
    expect((await alice.responses.next()).id).toBe("big");
    using raw = await openRawSocket(herald().url, { token: await org.token("bob") });
    raw.sendText(frame(65_537));
    expect((await raw.ended).closeCode).toBe(1009);
    await alice.expectSilence();
  });

  test("that violates the WebSocket protocol ends only its own socket", async () => {
    const org = await createOrganization(herald());
    using alice = await org.socket("alice");
    const token = await org.token("bob");
    const breaks: Parameters<Awaited<ReturnType<typeof openRawSocket>>["sendFrame"]>[0][] = [
      { opcode: OPCODE.text, payload: '{"request":{"ping":{},"id":"1"}}', masked: false },
      { opcode: OPCODE.text, payload: new Uint8Array([0xff, 0xfe]) },
      { opcode: OPCODE.text, payload: "x", rsv: 4 },
      { opcode: 3, payload: "x" },
      { opcode: 11, payload: "x" },
      { opcode: OPCODE.ping, payload: "x".repeat(126) },
      { opcode: OPCODE.ping, payload: "x", fin: false },
      { opcode: OPCODE.continuation, payload: "x" },
      { opcode: OPCODE.close, payload: new Uint8Array([1]) },
      { opcode: OPCODE.close, payload: new Uint8Array([0x03, 0xee]) },
    ];
    for (const frame of breaks) {
      using raw = await openRawSocket(herald().url, { token });
      raw.sendFrame(frame);
      await raw.ended;
    }
    await org.expectNothingElse(alice);
  });

  test("may come in fragments, and a protocol ping between them is answered", async () => {
    const org = await createOrganization(herald());
    await org.user("alice");
    using raw = await openRawSocket(herald().url, { token: await org.token("alice") });
    raw.sendFrame({ opcode: OPCODE.text, payload: '{"request":{"ping"', fin: false });
    raw.sendFrame({ opcode: OPCODE.ping, payload: "hello" });
    raw.sendFrame({ opcode: OPCODE.continuation, payload: ':{},"id":"1"}', fin: false });
    raw.sendFrame({ opcode: OPCODE.continuation, payload: "}" });
    expect((await raw.frames.next((frame) => frame.opcode === OPCODE.pong, "the pong")).payload.toString()).toBe(
      "hello",
    );
    expect((await raw.frames.next((frame) => frame.opcode === OPCODE.text, "the response")).payload.toString()).toBe(
      '{"response":{"id":"1","pong":{}}}',
    );
  });
});
