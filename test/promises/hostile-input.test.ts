import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { postText, requestText } from "../harness/clients/payload.ts";
import { OPCODE, openRawSocket } from "../harness/clients/raw-socket.ts";
import { openSocket } from "../harness/clients/socket.ts";
import { within } from "../harness/deadline.ts";
import { useHerald } from "../harness/servers/herald.ts";
import { createOrganization } from "../harness/servers/organization.ts";

const herald = useHerald({
  env: {
    HERALD_LIMIT_REQUESTS_PER_SECOND: "0",
    HERALD_LIMIT_ORGANIZATION_REQUESTS_PER_SECOND: "0",
    HERALD_LIMIT_REQUESTS_BURST: "0",
    HERALD_LIMIT_REQUESTS_PER_CONNECTION: "0",
  },
});

/** Expects that the server still works. Its logged errors are checked after the last test, as in every file. */
async function expectHealthy(): Promise<void> {
  expect((await herald().http("GET", "/readyz")).status).toBe(200);
}

describe("promise 8: bad input of any kind gets a clear 4xx, never a 500, and nothing hangs", () => {
  test("JSON of any shape on every call is answered with 2xx or 4xx", async () => {
    const org = await createOrganization(herald());
    const cid = await org.conversation(["alice"]);
    const loose = fc.letrec<{ value: unknown }>((tie) => ({
      value: fc.oneof(
        { maxDepth: 5 },
        fc.constantFrom<unknown>(null, "", "alice", cid, org.id, "\u0000", "x".repeat(200), -1, 1e308, true, [], {}),
        fc.string({ unit: "binary", maxLength: 20 }),
        fc.double(),
        fc.array(tie("value"), { maxLength: 4 }),
        fc.dictionary(
          fc.constantFrom(
            "organizationId",
            "senderId",
            "message",
            "messageSystem",
            "cid",
            "id",
            "uids",
            "x",
            "body",
            "attachments",
            "name",
            "participants",
            "ttl_seconds",
            "__proto__",
          ),
          tie("value"),
          { maxKeys: 5 },
        ),
      ),
    })).value;
    const calls: [string, string][] = [
      ["POST", "/admin/message"],
      ["POST", "/admin/message/system"],
      ["PUT", org.path("users", "alice")],
      ["PUT", org.path("conversations", "fuzzed")],
      ["POST", org.path("users", "alice", "tokens")],
    ];
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...calls), loose, async ([method, path], body) => {
        const answer = await herald().admin<unknown>(method, path, body);
        expect({ method, path, status: answer.status, isFine: answer.status < 500 && answer.status >= 200 }).toEqual({
          method,
          path,
          status: answer.status,
          isFine: true,
        });
      }),
      { numRuns: 1_000 },
    );
    await expectHealthy();
  });

  test("bytes that are almost JSON are answered with 201 or 4xx", async () => {
    const org = await createOrganization(herald());
    const cid = await org.conversation(["alice"]);
    const good = Buffer.from(requestText(org, cid, { x: ',"a":[1,2.5,{"b":"\\u00e9👋"}]' }));
    const edit = fc.record({ at: fc.nat(good.length - 1), remove: fc.nat(8), insert: fc.uint8Array({ maxLength: 6 }) });
    await fc.assert(
      fc.asyncProperty(fc.array(edit, { minLength: 1, maxLength: 4 }), async (edits) => {
        let bytes: Buffer = good;
        for (const { at, remove, insert } of edits)
          bytes = Buffer.concat([bytes.subarray(0, at), insert, bytes.subarray(at + remove)]);
        const answer = await postText<unknown>(herald(), "/admin/message", new Uint8Array(bytes));
        expect(answer.status === 201 || (answer.status >= 400 && answer.status < 500)).toBe(true);
      }),
      { numRuns: 1_000 },
    );
    await expectHealthy();
  });

  test("paths and queries of any kind are answered with 2xx or 4xx", async () => {
    const org = await createOrganization(herald());
    const segment = fc.oneof(
      fc.constantFrom(
        "admin",
        "organizations",
        org.id,
        "users",
        "conversations",
        "messages",
        "participants",
        "tokens",
        "sessions",
        "message",
        "system",
        "%",
        "%2F",
        "%00",
        "..%2f",
        "ws",
        "sse",
      ),
      fc.string({ maxLength: 8 }).map(encodeURIComponent),
    );
    const query = fc.oneof(
      fc.constantFrom("", "?", "?limit", "?limit=1&cursor=", "?before=x&after=y", "?%", "?a=%FF"),
      fc.string({ maxLength: 8 }).map((text) => `?${encodeURIComponent(text)}`),
    );
    const path = fc
      .tuple(fc.array(segment, { maxLength: 6 }), query)
      .map(([segments, search]) => `/${segments.join("/")}${search}`);
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom("GET", "PUT", "POST", "DELETE", "PATCH", "OPTIONS", "HEAD"),
        path,
        async (method, target) => {
          const response = await fetch(herald().url + target, { method, headers: { "Admin-Api-Key": herald().key } });
          await response.body?.cancel();
          expect({ method, target, status: response.status, isFine: response.status < 500 }).toEqual({
            method,
            target,
            status: response.status,
            isFine: true,
          });
        },
      ),
      { numRuns: 1_000 },
    );
    await expectHealthy();
  });

  test("frames of any kind are answered or end their socket, and the service continues", async () => {
    const org = await createOrganization(herald());
    const cid = await org.conversation(["alice"]);
    const token = await org.token("alice");
    using witness = await org.socket("alice");
    const texts = [
      "",
      "{",
      "[]",
      '{"request":{"connect":{"token":{}},"id":"1"}}',
      '{"request":{"message_list":{"cid":["c"]},"id":1}}',
      '{"request":{"ping":{},"id":1e400}}',
      '{"request":{"__proto__":{"a":1},"id":"1"}}',
      `${'{"a":'.repeat(10_000)}1${"}".repeat(10_000)}`,
      "\u0000",
      `{"request":{"ping":{},"id":"${"x".repeat(60_000)}"}}`,
      '{"request":{"message_list":{"cid":"c","before":"\'; --"},"id":"1"}}',
      '{"request":{"conversation_list":{"cursor":{"$gt":""}},"id":"1"}}',
    ];
    for (const text of texts) {
      for (const connected of [true, false]) {
        using socket = await openSocket(
          herald().url,
          connected ? { headers: { Authorization: `Bearer ${token}` } } : {},
        );
        socket.send(text);
        await within(
          Promise.race([socket.responses.next().catch(() => undefined), socket.closed]),
          `an answer to ${text.slice(0, 60)}`,
        );
      }
    }
    const frame = fc.record({
      opcode: fc.nat(15),
      payload: fc.uint8Array({ maxLength: 200 }),
      fin: fc.boolean(),
      masked: fc.boolean(),
      rsv: fc.constantFrom(0, 0, 0, 1, 4),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(frame, { minLength: 1, maxLength: 5 }), async (frames) => {
        using raw = await openRawSocket(herald().url, { token });
        for (const one of frames) raw.sendFrame(one);
        raw.sendFrame({ opcode: OPCODE.close, payload: new Uint8Array([0x03, 0xe8]) });
        await within(raw.ended, "the end of a socket that was sent nonsense");
      }),
      { numRuns: 100 },
    );
    const sizes: [number, string][] = [
      [127, "8000000000000000"],
      [127, "ffffffffffffffff"],
      [127, "0000000100000000"],
      [126, "ffff"],
    ];
    for (const [short, length] of sizes) {
      using raw = await openRawSocket(herald().url, { token });
      raw.sendBytes(Buffer.concat([Buffer.from([0x81, 0x80 | short]), Buffer.from(length, "hex"), Buffer.alloc(64)]));
      if (short === 127) await within(raw.ended, `the end of a socket that announced ${length} bytes`);
    }
    await org.sent("alice", { cid, body: "still here" });
    expect((await witness.next()).message?.body).toBe("still here");
    await expectHealthy();
  });
});
