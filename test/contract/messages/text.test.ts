import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { postText, requestText, sendX } from "../../harness/clients/payload.ts";
import { expectProblem, messageOf } from "../../harness/reading/expectations.ts";
import { useHerald } from "../../harness/servers/herald.ts";
import { createOrganization } from "../../harness/servers/organization.ts";

const herald = useHerald({ env: { HERALD_LIMIT_REQUESTS_PER_SECOND: "0", HERALD_LIMIT_REQUESTS_BURST: "0" } });

/** Any text that the contract accepts: no U+0000, no lone surrogate, at least one character. */
const text = fc
  .string({ unit: "binary", minLength: 1, maxLength: 60 })
  .filter((value) => !value.includes("\0") && value.isWellFormed());
const number = fc.oneof(
  fc.maxSafeInteger(),
  fc
    .double({ noNaN: true, noDefaultInfinity: true, min: -1e6, max: 1e6 })
    .map((value) => (Object.is(value, -0) ? 0 : value)),
);
const { value: json } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    text,
    number,
    fc.boolean(),
    fc.constant(null),
    fc.array(tie("value"), { maxLength: 4 }),
    fc.dictionary(text, tie("value"), { maxKeys: 4, noNullPrototype: true }),
  ),
}));
const x = fc.dictionary(text, json, { maxKeys: 5, noNullPrototype: true });

describe("text", () => {
  test("of any kind passes unchanged: body, x and file names, to sockets, streams and history", async () => {
    const org = await createOrganization(herald());
    using bob = await org.socket("bob");
    using carol = await org.sse("carol");
    const message = fc.record({ body: text, x, name: text });
    const batches = fc.array(message, { minLength: 10, maxLength: 30 });
    await fc.assert(
      fc.asyncProperty(batches, async (batch) => {
        const cid = await org.conversation(["alice", "bob", "carol"]);
        for (const { body, x, name } of batch)
          await org.sent("alice", { cid, body, x, attachments: [{ name, size: 1, content_type: "text/plain" }] });
        const wanted = batch.map(({ body, x, name }) => ({ body, x, name }));
        const history = (await org.history(cid)).reverse();
        for (const [index, expected] of wanted.entries()) {
          const messages = [messageOf(await bob.next()), messageOf(await carol.next()), history[index]];
          for (const heard of messages)
            expect({ body: heard?.body, x: heard?.x, name: heard?.attachments[0]?.file_name }).toEqual(
              expected as never,
            );
        }
      }),
      { numRuns: 25, endOnFailure: true },
    );
  });

  test("of awkward kinds passes unchanged, neither normalized nor trimmed", async () => {
    const org = await createOrganization(herald());
    const cid = await org.conversation(["alice"]);
    using alice = await org.sse("alice");
    const awkward = [
      " ",
      "\n",
      "\r\n",
      "a\rb\nc",
      "data: x\n\nevent: y",
      ":",
      "\u0001\u001f\u007f\u0085",
      "e\u0301 \u00e9",
      "\ufeff",
      "\ufffd",
      "\uffff",
      "\u{10ffff}",
      "\u2028\u2029",
      "</script>",
      "👩‍👩‍👧‍👦".repeat(50),
    ];
    for (const body of awkward) await org.sent("alice", { cid, body, x: { [body]: body } });
    for (const body of awkward) {
      const message = messageOf(await alice.next());
      expect(message.body).toBe(body);
      expect(message.x).toEqual({ [body]: body });
    }
  });

  test("with U+0000 is refused anywhere", async () => {
    const org = await createOrganization(herald());
    const cid = await org.conversation(["alice"]);
    const file = { name: "a", size: 1, content_type: "text/plain" };
    expectProblem(await org.send<unknown>("alice", { cid, body: "a\0b" }), 422, "invalid_request", "/message/body");
    expectProblem(
      await org.send<unknown>("alice", { cid, attachments: [{ ...file, name: "a\0b" }] }),
      422,
      "invalid_request",
      "/message/attachments/0/name",
    );
    expectProblem(
      await org.send<unknown>("alice", { cid, attachments: [{ ...file, content_type: "a\0b" }] }),
      422,
      "invalid_request",
    );
    for (const value of ['{"k":"a\\u0000b"}', '{"a\\u0000b":1}', '{"k":[{"k":["\\u0000"]}]}'])
      expectProblem(await sendX<unknown>(org, cid, value), 422, "invalid_request");
    expectProblem(
      await herald().admin("PUT", org.path("users", "x"), { name: "a\0b" }),
      422,
      "invalid_request",
      "/name",
    );
    expect(await org.history(cid)).toEqual([]);
  });

  test("with a lone surrogate is refused anywhere, and a pair is accepted", async () => {
    const org = await createOrganization(herald());
    const cid = await org.conversation(["alice"]);
    for (const lone of ["\\ud83d", "\\udc4b", "\\udc4b\\ud83d", "a\\ud83db", "\\ud83d\\ud83d\\udc4b"]) {
      for (const value of [`{"k":"${lone}"}`, `{"${lone}":1}`, `{"k":[["${lone}"]]}`])
        expectProblem(await sendX<unknown>(org, cid, value), 422, "invalid_request");
      const body = requestText(org, cid).replace('"body":"x"', `"body":"${lone}"`);
      expectProblem(await postText(herald(), "/admin/message", body), 422, "invalid_request", "/message/body");
      const system = `{"organizationId":${JSON.stringify(org.id)},"senderId":"alice","messageSystem":{"uids":["${lone}"]}}`;
      expectProblem(
        await postText(herald(), "/admin/message/system", system),
        422,
        "invalid_request",
        "/messageSystem/uids/0",
      );
    }
    expect((await sendX(org, cid, '{"\\ud83d\\udc4b":"\\ud83d\\udc4b"}')).status).toBe(201);
    expect((await org.history(cid)).map((message) => message.x)).toEqual([{ "👋": "👋" }]);
  });

  test("that is not UTF-8 is malformed JSON, never repaired", async () => {
    const org = await createOrganization(herald());
    const cid = await org.conversation(["alice"]);
    const [head = "", tail = ""] = requestText(org, cid).split('"body":"x"');
    const invalid = [[0xff], [0xc3], [0xc0, 0xaf], [0xed, 0xa0, 0x80], [0xf4, 0x90, 0x80, 0x80], [0xe2, 0x82]];
    for (const bytes of invalid) {
      const body = Buffer.concat([Buffer.from(`${head}"body":"`), Buffer.from(bytes), Buffer.from(`"${tail}`)]);
      expectProblem(await postText(herald(), "/admin/message", body), 400, "malformed_json");
    }
    expectProblem(
      await postText(herald(), "/admin/message", Buffer.from(requestText(org, cid), "utf16le")),
      400,
      "malformed_json",
    );
    expect(await org.history(cid)).toEqual([]);
  });
});
