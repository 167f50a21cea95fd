import { describe, expect, test } from "bun:test";
import { bytesOfLines, openBatch, sendBatch } from "../../harness/clients/batch.ts";
import { uniqueId } from "../../harness/random.ts";
import { useHerald } from "../../harness/servers/herald.ts";
import { createKey } from "../../harness/servers/keys.ts";
import { createOrganization, type Organization } from "../../harness/servers/organization.ts";

const herald = useHerald();

const lineOf = (org: Organization, cid: string, message: object = {}) => ({
  organizationId: org.id,
  senderId: "alice",
  message: { cid, body: "x", ...message },
});
const systemLineOf = (org: Organization, messageSystem: object) => ({
  organizationId: org.id,
  senderId: "alice",
  messageSystem: { uids: ["bob"], ...messageSystem },
});

async function room(): Promise<{ org: Organization; cid: string }> {
  const org = await createOrganization(herald());
  return { org, cid: await org.conversation(["alice", "bob"]) };
}

describe("a batch", () => {
  test("sends messages and system messages, and answers each line in order", async () => {
    const { org, cid } = await room();
    using bob = await org.socket("bob");
    const { status, answers } = await sendBatch(herald(), [
      lineOf(org, cid, { id: "m1", body: "one" }),
      systemLineOf(org, { id: "s1", x: { n: 1 } }),
      lineOf(org, cid, { body: "two" }),
    ]);
    expect({ status, answers }).toEqual({
      status: 200,
      answers: [
        { line: 1, status: 201, ask: { mid: "m1", server_mid: expect.any(String), t: expect.any(Number) } },
        { line: 2, status: 201, ack: { mid: "s1", t: expect.any(Number) } },
        {
          line: 3,
          status: 201,
          ask: { mid: expect.any(String), server_mid: expect.any(String), t: expect.any(Number) },
        },
      ],
    });
    expect((await bob.next()).message).toMatchObject({ _id: answers[0]?.ask?.server_mid ?? "", body: "one" });
    expect((await bob.next()).system_message).toMatchObject({ _id: "s1", x: { n: 1 } });
    expect((await bob.next()).message?.body).toBe("two");
    await org.expectNothingElse(bob);
  });

  test("sent again with the same ids is replayed, and nothing is stored or heard twice", async () => {
    const { org, cid } = await room();
    const lines = Array.from({ length: 300 }, (_, index) =>
      index % 3 === 0 ? systemLineOf(org, { id: `s${index}` }) : lineOf(org, cid, { id: `m${index}` }),
    );
    const first = await sendBatch(herald(), lines.slice(0, 200));
    using bob = await org.socket("bob");
    const again = await sendBatch(herald(), lines);
    expect(again.answers.slice(0, 200)).toEqual(first.answers.map((answer) => ({ ...answer, replayed: true })));
    expect(again.answers.slice(200).map(({ line, replayed }) => [line, replayed])).toEqual(
      Array.from({ length: 100 }, (_, index) => [201 + index, undefined]),
    );
    for (let heard = 0; heard < 100; heard++) await bob.next();
    await org.expectNothingElse(bob);
    expect(await org.history(cid)).toHaveLength(200);
  });

  test("stores the lines in their order, however many there are", async () => {
    const { org, cid } = await room();
    const other = await org.conversation(["alice", "bob"]);
    using bob = await org.socket("bob");
    const bodies = Array.from({ length: 1_500 }, (_, index) => `${index}`);
    const lines = bodies.map((body, index) =>
      index % 7 === 0 ? systemLineOf(org, { x: { body } }) : lineOf(org, index % 2 === 0 ? cid : other, { body }),
    );
    const { answers } = await sendBatch(herald(), lines);
    expect(answers.map(({ line, status }) => [line, status])).toEqual(bodies.map((_, index) => [index + 1, 201]));
    const heard: unknown[] = [];
    for (const _ of bodies) {
      const { message, system_message: system } = await bob.next();
      heard.push(message?.body ?? system?.x.body);
    }
    expect(heard).toEqual(bodies);
    await org.expectNothingElse(bob);
  });

  test("refuses a bad line alone, as the single operation would", async () => {
    const { org, cid } = await room();
    const stranger = { ...lineOf(org, cid), senderId: "mallory" };
    const lines: (object | string)[] = [
      lineOf(org, cid, { id: "m1" }),
      stranger,
      '{"organizationId":',
      { ...lineOf(org, cid), extra: 1 },
      lineOf(org, "missing"),
      lineOf(org, cid, { id: "m1", body: "another" }),
      { organizationId: org.id, senderId: "alice" },
      [1],
      "",
      "  ",
      { ...lineOf(org, cid), messageSystem: { uids: ["bob"] } },
      systemLineOf(org, { uids: [] }),
      { ...systemLineOf(org, {}), senderId: "nobody" },
      lineOf(org, cid, { body: "y".repeat(65_537) }),
      '{"organizationId":"a","organizationId":"b"}',
      lineOf(org, cid, { id: "m2" }),
    ];
    const { answers } = await sendBatch(herald(), lines);
    expect(
      answers.map(({ line, status, problem }) => [line, status, problem?.code, problem?.errors?.[0]?.pointer]),
    ).toEqual([
      [1, 201, undefined, undefined],
      [2, 403, "sender_not_participant", undefined],
      [3, 400, "malformed_json", undefined],
      [4, 422, "invalid_request", "/extra"],
      [5, 404, "conversation_not_found", undefined],
      [6, 409, "message_id_conflict", undefined],
      [7, 422, "invalid_request", ""],
      [8, 422, "invalid_request", ""],
      [11, 422, "invalid_request", "/messageSystem"],
      [12, 422, "invalid_request", "/messageSystem/uids"],
      [13, 404, "sender_not_found", undefined],
      [14, 422, "invalid_request", "/message/body"],
      [15, 422, "invalid_request", "/organizationId"],
      [16, 201, undefined, undefined],
    ]);
    expect(await org.history(cid)).toHaveLength(2);
    const single = await herald().admin<Record<string, unknown>>("POST", "/admin/message", stranger);
    expect({ ...answers[1]?.problem, request_id: "" }).toEqual({ ...single.body, request_id: "" });
  });

  test("refuses a line that is longer than a request may be, or not UTF-8, and sends the others", async () => {
    const { org, cid } = await room();
    const good = bytesOfLines([lineOf(org, cid)]);
    const long = bytesOfLines([lineOf(org, cid, { x: { text: "x".repeat(2 * 1024 * 1024) } })]);
    const bytes = Buffer.concat([good, long, Buffer.from([0x7b, 0xff, 0x0a]), good.subarray(0, good.length - 1)]);
    const { answers } = await sendBatch(herald(), bytes);
    expect(answers.map(({ line, status, problem }) => [line, status, problem?.code])).toEqual([
      [1, 201, undefined],
      [2, 413, "payload_too_large"],
      [3, 400, "malformed_json"],
      [4, 201, undefined],
    ]);
  });

  test("reads long lines and long lists of users, and keeps the order around them", async () => {
    const { org, cid } = await room();
    using bob = await org.socket("bob");
    const uids = ["bob", ...Array.from({ length: 9_999 }, () => uniqueId("nobody"))];
    const body = "z".repeat(60_000);
    const { answers } = await sendBatch(herald(), [
      systemLineOf(org, { id: "long", uids }),
      lineOf(org, cid, { body }),
      lineOf(org, cid, { body: "after" }),
    ]);
    expect(answers.map(({ status }) => status)).toEqual([201, 201, 201]);
    expect((await bob.next()).system_message?._id).toBe("long");
    expect((await bob.next()).message?.body).toBe(body);
    expect((await bob.next()).message?.body).toBe("after");
  });

  test("answers while the request goes on", async () => {
    const { org, cid } = await room();
    const batch = await openBatch(herald());
    for (let line = 1; line <= 3; line++) {
      batch.write(lineOf(org, cid));
      expect(await batch.next()).toMatchObject({ line, status: 201 });
    }
    batch.end();
    expect(await batch.next()).toBeUndefined();
  });

  test("without any line is answered with none", async () => {
    expect(await sendBatch(herald(), [])).toMatchObject({ status: 200, text: "" });
    expect(await sendBatch(herald(), ["", ""])).toMatchObject({ status: 200, text: "" });
  });

  test("with dry_run checks each line and sends nothing", async () => {
    const { org, cid } = await room();
    using bob = await org.socket("bob");
    await sendBatch(herald(), [lineOf(org, cid, { id: "known" })]);
    await bob.next();
    const { answers } = await sendBatch(
      herald(),
      [
        lineOf(org, cid),
        lineOf(org, "missing"),
        systemLineOf(org, { uids: ["bob", "none"] }),
        lineOf(org, cid, { id: "known" }),
      ],
      { query: "?dry_run=true" },
    );
    expect(answers).toMatchObject([
      { line: 1, status: 200, dry_run: { recipients: 2, online: 1, unknown_users: [] } },
      { line: 2, status: 404, problem: { code: "conversation_not_found" } },
      { line: 3, status: 200, dry_run: { recipients: 2, online: 1, unknown_users: ["none"] } },
      { line: 4, status: 200, replayed: true },
    ]);
    await org.expectNothingElse(bob);
    expect(await org.history(cid)).toHaveLength(1);
  });

  test("keeps the pace that the caller asks for", async () => {
    const { org, cid } = await room();
    const startedAt = performance.now();
    await sendBatch(
      herald(),
      Array.from({ length: 41 }, () => lineOf(org, cid)),
      { query: "?rate=200" },
    );
    expect(performance.now() - startedAt).toBeGreaterThan(155); // 200 ms, less what may be made up for
  });

  test.each(["0", "-1", "1.5", "fast", "1000001", ""])("refuses a rate of %p", async (rate) => {
    const { status, text } = await sendBatch(herald(), [], { query: `?rate=${rate}` });
    expect({ status, code: JSON.parse(text).code }).toEqual({ status: 422, code: "invalid_request" });
  });

  test("is refused as a whole without a key or the media type", async () => {
    const { org, cid } = await room();
    expect((await sendBatch(herald(), [lineOf(org, cid)], { key: "hk_none" })).status).toBe(401);
    const headers = { "Admin-Api-Key": herald().key, "Content-Type": "application/json" };
    const { body } = await herald().http("POST", "/admin/message/batch", { body: "{}", headers });
    expect(body.code).toBe("unsupported_media_type");
  });
});

describe("a batch's key", () => {
  test("needs the scope of each line", async () => {
    const { org, cid } = await room();
    const lines = [lineOf(org, cid), systemLineOf(org, {})];
    for (const [scopes, statuses] of [
      [["message:send"], [201, 403]],
      [["system:send"], [403, 201]],
      [["observe"], [403, 403]],
    ] as const) {
      const { key } = await createKey(herald(), { scopes: [...scopes] });
      const { answers } = await sendBatch(herald(), lines, { key });
      expect(answers.map(({ status }) => status)).toEqual([...statuses]);
      for (const { problem } of answers) expect(problem?.code ?? "insufficient_scope").toBe("insufficient_scope");
    }
  });

  test("may send in several organizations, or in its own, or as its senders", async () => {
    const [one, other] = [await room(), await room()];
    const lines = [lineOf(one.org, one.cid), lineOf(other.org, other.cid), lineOf({ ...one.org, id: "none" }, "none")];
    expect((await sendBatch(herald(), lines)).answers.map(({ status }) => status)).toEqual([201, 201, 404]);
    const bound = await createKey(herald(), { organization: one.org.id });
    const { answers } = await sendBatch(herald(), lines, { key: bound.key });
    expect(answers.map(({ status, problem }) => [status, problem?.code])).toEqual([
      [201, undefined],
      [403, "organization_forbidden"],
      [403, "organization_forbidden"],
    ]);
    const asBob = await createKey(herald(), { allowed_senders: ["bob"] });
    const { answers: refused } = await sendBatch(herald(), lines.slice(0, 1), { key: asBob.key });
    expect(refused[0]?.problem?.code).toBe("sender_forbidden");
  });
});

test("a batch leaves one entry in the audit log, with its counts and its organization", async () => {
  const { org, cid } = await room();
  await sendBatch(herald(), [
    lineOf(org, cid, { id: "m1" }),
    lineOf(org, cid, { id: "m1" }),
    "",
    "x",
    lineOf(org, cid),
  ]);
  const path = `/admin/audit?organization=${org.id}&operation=sendBatch`;
  const { body } = await herald().admin<{ items: object[] }>("GET", path);
  expect(body.items).toMatchObject([
    { target: { organization: org.id, lines: "4", stored: "2", replayed: "1", failed: "1" }, status: 200 },
  ]);
});
