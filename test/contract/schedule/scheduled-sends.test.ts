import { describe, expect, test } from "bun:test";
import type { DryRun, Page, ScheduledSend } from "../../harness/clients/wire.ts";
import { eventually } from "../../harness/deadline.ts";
import { expectProblem, ISO_MILLISECONDS, UUID_V7 } from "../../harness/reading/expectations.ts";
import { useHerald } from "../../harness/servers/herald.ts";
import { createKey } from "../../harness/servers/keys.ts";
import { createOrganization, readList } from "../../harness/servers/organization.ts";
import { scheduling } from "../../harness/servers/scheduling.ts";

const herald = useHerald();

const inMs = (ms: number) => new Date(Date.now() + ms).toISOString();
const tomorrow = () => inMs(86_400_000);
const past = "2020-01-01T00:00:00Z";

async function setUp() {
  const org = await createOrganization(herald());
  const cid = await org.conversation(["alice", "bob"]);
  return { org, cid, ...scheduling(org) };
}

describe("a scheduled send", () => {
  test("waits, and is shown as it was scheduled", async () => {
    const { org, cid, put, get, messageOf } = await setUp();
    const request = messageOf("alice", { cid, body: "later", x: { n: 1 } });
    const answer = await put("one", { send_at: "2026-12-31T23:59:59+02:00".replace("2026", nextYear()), request });
    expect(answer.status).toBe(201);
    expect(answer.body).toEqual({
      id: "one",
      send_at: `${nextYear()}-12-31T21:59:59.000Z`,
      state: "waiting",
      request: { ...request, message: { body: "later", cid, x: { n: 1 }, attachments: [] } },
      created_at: expect.stringMatching(ISO_MILLISECONDS),
      sent_at: null,
      server_mid: null,
      problem: null,
    });
    expect((await get("one")).body).toEqual(answer.body);
    expect(await org.history(cid)).toEqual([]);
  });

  test("is sent at its time, once, like any other message", async () => {
    const { org, cid, put, ended, messageOf } = await setUp();
    using bob = await org.socket("bob");
    const sendAt = Date.now() + 400;
    const request = messageOf("alice", { id: "m-1", cid, body: "now", x: { order: 1 } });
    expect((await put("one", { send_at: new Date(sendAt).toISOString(), request })).status).toBe(201);
    const message = (await bob.next()).message;
    expect(message).toMatchObject({ from: "alice", body: "now", cid, x: { order: 1 } });
    expect(Date.parse(message?.created_at ?? "")).toBeWithin(sendAt, sendAt + 10_000);
    const sent = await ended("one");
    expect(sent).toMatchObject({ state: "sent", request: null, server_mid: message?._id, problem: null });
    expect(sent.sent_at).toBe(message?.created_at ?? "");
    const again = await org.send("alice", { id: "m-1", cid, body: "now", x: { order: 1 } });
    expect([again.body.ask.server_mid, again.headers.get("idempotent-replayed")]).toEqual([message?._id ?? "", "true"]);
    await org.expectNothingElse(bob);
  });

  test("may be a system message, whose `server_mid` is the id that its recipients know", async () => {
    const { org, put, ended, systemOf } = await setUp();
    using bob = await org.socket("bob");
    for (const [sid, id] of [
      ["named", "notice-1"],
      ["nameless", undefined],
    ] as const) {
      await put(sid, { send_at: past, request: systemOf("alice", { id, uids: ["bob"], x: { sid } }) });
      const heard = (await bob.next()).system_message;
      expect(heard?.x).toEqual({ sid });
      const { server_mid: mid } = await ended(sid);
      expect(mid).toBe(heard?._id ?? "");
      expect(mid).toMatch(id === undefined ? UUID_V7 : /^notice-1$/);
      expect((await herald().admin("GET", org.path("system-messages", mid ?? ""))).status).toBe(200);
    }
  });

  test("may be due at once, and those that are due together keep the order of their times", async () => {
    const { org, cid, put, messageOf } = await setUp();
    using bob = await org.socket("bob");
    const at = Date.now() + 3_000; // all three must be scheduled by then, also on a busy machine
    for (const n of [3, 1, 2])
      await put(`s${n}`, {
        send_at: new Date(at + n).toISOString(),
        request: messageOf("alice", { cid, body: `${n}` }),
      });
    await org.expectNothingElseAfter(bob, ["1", "2", "3"]);
  });

  test("is the same when it is scheduled again, whatever became of it, and gives way to another while it waits", async () => {
    const { org, cid, put, ended, messageOf } = await setUp();
    const order = { send_at: tomorrow(), request: messageOf("alice", { cid, body: "first" }) };
    const first = await put("one", order);
    const same = await put("one", { ...order, request: messageOf("alice", { cid, body: "first", x: {} }) });
    expect([same.status, same.body]).toEqual([200, first.body]);
    const other = { send_at: past, request: messageOf("alice", { cid, body: "second" }) };
    const replaced = await put("one", other);
    expect([replaced.status, replaced.body.created_at]).toEqual([200, first.body.created_at]);
    const sent = await ended("one");
    const late = await put("one", other);
    expect([late.status, late.body]).toEqual([200, sent]);
    expectProblem(await put("one", order), 409, "already_sent");
    expect((await org.history(cid)).map(({ body }) => body)).toEqual(["second"]);
  });

  test("is never sent once it is cancelled", async () => {
    const { org, cid, put, get, cancel, messageOf } = await setUp();
    const order = { send_at: inMs(4_000), request: messageOf("alice", { cid, body: "never" }) };
    await put("one", order);
    expect([(await cancel("one")).status, (await cancel("one")).status]).toEqual([204, 204]);
    expect((await get("one")).body).toMatchObject({ state: "cancelled", request: null, sent_at: null });
    await put("two", { send_at: inMs(4_000), request: messageOf("alice", { cid, body: "after it" }) });
    using bob = await org.socket("bob");
    expect((await bob.next()).message?.body).toBe("after it");
    const again = await put("one", order);
    expect([again.status, again.body.state]).toEqual([200, "cancelled"]);
    expectProblem(await put("one", { ...order, send_at: tomorrow() }), 409, "already_sent");
    expectProblem(await cancel("two"), 409, "already_sent");
    expectProblem(await cancel("three"), 404, "not_found");
  });

  test("is listed by time, by state, and page by page", async () => {
    const { org, cid, put, cancel, ended, messageOf } = await setUp();
    const request = messageOf("alice", { cid, body: "x" });
    for (const [sid, send_at] of [
      ["c", tomorrow()],
      ["b", inMs(3_600_000)],
      ["a", inMs(7_200_000)],
      ["d", past],
      ["e", inMs(10_000_000)],
    ] as const)
      await put(sid, { send_at, request });
    await cancel("e");
    await ended("d");
    const idsOf = async (query = "", limit = 2) =>
      (await readList<ScheduledSend>(herald(), org.path("scheduled"), limit, query)).map(({ id }) => id);
    expect(await idsOf()).toEqual(["d", "b", "a", "e", "c"]);
    expect(await idsOf("state=waiting")).toEqual(["b", "a", "c"]);
    expect([await idsOf("state=sent"), await idsOf("state=cancelled"), await idsOf("state=failed")]).toEqual([
      ["d"],
      ["e"],
      [],
    ]);
    for (const query of ["?state=late", "?limit=0", "?cursor=x"])
      expectProblem(await herald().admin("GET", org.path("scheduled") + query), 422, "invalid_request");
  });

  test("is listed in pages of limited size", async () => {
    const { org, cid, put, messageOf } = await setUp();
    const body = "x".repeat(65_536);
    for (let n = 10; n < 22; n++)
      await put(`${n}`, { send_at: tomorrow(), request: messageOf("alice", { cid, body }) });
    const first = await herald().admin<Page<ScheduledSend>>("GET", org.path("scheduled"));
    expect(first.body.items.length).toBeWithin(5, 11);
    expect(first.body.cursor).toBeString();
    expect(await readList<ScheduledSend>(herald(), org.path("scheduled"))).toHaveLength(12);
  });
});

function nextYear(): string {
  return String(new Date(Date.now() + 86_400_000).getUTCFullYear());
}

describe("a scheduled send that could not be sent now", () => {
  test("is refused now, as the send would be", async () => {
    const { org, cid, put, messageOf, systemOf } = await setUp();
    await org.sent("alice", { id: "taken", cid, body: "other" });
    const cases: [request: object, status: number, code: string, pointer?: string][] = [
      [messageOf("carol", { cid, body: "x" }), 403, "sender_not_participant"],
      [messageOf("alice", { cid: "nowhere", body: "x" }), 404, "conversation_not_found"],
      [messageOf("alice", { id: "taken", cid, body: "x" }), 409, "message_id_conflict"],
      [messageOf("alice", { cid, body: "" }), 422, "invalid_request", "/request/message"],
      [messageOf("alice", { cid, body: 1 }), 422, "invalid_request", "/request/message/body"],
      [systemOf("nobody", { uids: ["bob"] }), 404, "sender_not_found"],
      [systemOf("alice", { uids: [] }), 422, "invalid_request", "/request/messageSystem/uids"],
      [{ organizationId: org.id, senderId: "alice" }, 422, "invalid_request", "/request/message"],
      [
        { ...messageOf("alice", { cid, body: "x" }), organizationId: "other" },
        422,
        "invalid_request",
        "/request/organizationId",
      ],
    ];
    for (const [request, status, code, pointer] of cases)
      expectProblem(await put("one", { send_at: tomorrow(), request }), status, code, pointer);
    const request = messageOf("alice", { cid, body: "x" });
    for (const send_at of ["soon", 5, "2026-12-01", "2026-12-01T09:00:00", inMs(368 * 86_400_000), undefined])
      expectProblem(await put("one", { send_at, request }), 422, "invalid_request", "/send_at");
    expectProblem(await herald().admin("GET", org.path("scheduled", "one")), 404, "not_found");
    const nowhere = await createOrganization(herald());
    await herald().admin("DELETE", nowhere.path());
    const elsewhere = scheduling(nowhere);
    const lost = elsewhere.messageOf("alice", { cid, body: "x" });
    expectProblem(await elsewhere.put("one", { send_at: past, request: lost }), 404, "organization_not_found");
    for (const method of ["GET", "DELETE"])
      expectProblem(await herald().admin(method, nowhere.path("scheduled", "one")), 404, "organization_not_found");
    expectProblem(await herald().admin("GET", nowhere.path("scheduled")), 404, "organization_not_found");
  });

  test("is checked by a dry run, which schedules nothing", async () => {
    const { org, cid, get, messageOf, systemOf } = await setUp();
    using _bob = await org.socket("bob");
    const tryOne = (request: object, send_at = tomorrow()) =>
      herald().admin<DryRun>("PUT", `${org.path("scheduled", "one")}?dry_run=true`, { send_at, request });
    const message = await tryOne(messageOf("alice", { cid, body: "x" }));
    expect([message.status, message.body]).toEqual([200, { dry_run: { recipients: 2, online: 1, unknown_users: [] } }]);
    const system = await tryOne(systemOf("alice", { uids: ["bob", "zoe"] }));
    expect(system.body).toEqual({ dry_run: { recipients: 2, online: 1, unknown_users: ["zoe"] } });
    expectProblem(await tryOne(messageOf("zoe", { cid, body: "x" })), 403, "sender_not_participant");
    expectProblem(await tryOne(messageOf("alice", { cid, body: "x" }), "2400-01-01T00:00:00Z"), 422, "invalid_request");
    expectProblem(await get("one"), 404, "not_found");
  });
});

describe("the key of a scheduled send", () => {
  test("needs what the send needs, and may replace and cancel what it may send", async () => {
    const { cid, put, get, cancel, messageOf, systemOf } = await setUp();
    const { key: messages } = await createKey(herald(), { scopes: ["message:send"] });
    const { key: system } = await createKey(herald(), { scopes: ["system:send"] });
    const { key: reader } = await createKey(herald(), { scopes: ["history:read"] });
    const { key: bobs } = await createKey(herald(), { scopes: ["message:send"], allowed_senders: ["bob"] });
    const message = { send_at: tomorrow(), request: messageOf("alice", { cid, body: "x" }) };
    const notice = { send_at: tomorrow(), request: systemOf("alice", { uids: ["bob"] }) };
    expectProblem(await put("m", message, system), 403, "insufficient_scope");
    expectProblem(await put("s", notice, messages), 403, "insufficient_scope");
    expectProblem(await put("m", message, reader), 403, "insufficient_scope");
    expectProblem(await put("m", message, bobs), 403, "sender_forbidden");
    expect([(await put("m", message, messages)).status, (await put("s", notice, system)).status]).toEqual([201, 201]);
    expectProblem(await put("s", message, messages), 403, "insufficient_scope");
    expectProblem(
      await put("m", { ...message, request: messageOf("bob", { cid, body: "x" }) }, bobs),
      403,
      "sender_forbidden",
    );
    expectProblem(await cancel("m", bobs), 403, "sender_forbidden");
    expectProblem(await cancel("m", system), 403, "insufficient_scope");
    expectProblem(await get("m", messages), 403, "insufficient_scope");
    expect([(await get("m", reader)).body.state, (await cancel("m", messages)).status]).toEqual(["waiting", 204]);
    expect((await cancel("s", system)).status).toBe(204);
  });

  test("is in the audit log with what it scheduled and cancelled, and what the server sent for it", async () => {
    const { org, cid, put, cancel, ended, messageOf } = await setUp();
    const { id: key_id, key } = await createKey(herald(), { organization: org.id });
    await put("one", { send_at: past, request: messageOf("alice", { cid, body: "x" }) }, key);
    await ended("one");
    await put("two", { send_at: inMs(4_000), request: messageOf("bob", { cid, body: "x" }) }, key);
    await put("three", { send_at: tomorrow(), request: messageOf("alice", { cid, body: "x" }) }, key);
    await cancel("three", key);
    await org.leave(cid, "bob");
    await ended("two");
    const path = `/admin/audit?key=${key_id}`;
    const entries = await eventually(async () => {
      const { items } = (await herald().admin<Page<AuditEntry>>("GET", path)).body;
      return items.length >= 6 ? items : undefined;
    }, "six entries");
    const shown = entries.map(({ operation, target, status, code }) => [operation, target.scheduled, status, code]);
    expect(shown.toSorted()).toEqual(
      [
        ["putScheduled", "one", 201, null],
        ["putScheduled", "two", 201, null],
        ["putScheduled", "three", 201, null],
        ["deleteScheduled", "three", 204, null],
        ["sendScheduled", "one", 201, null],
        ["sendScheduled", "two", 403, "sender_not_participant"],
      ].toSorted(),
    );
    for (const entry of entries) expect(entry).toMatchObject({ organization: org.id, key_id });
    const sent = entries.find(({ operation }) => operation === "sendScheduled");
    expect(sent).toMatchObject({ address: null, target: { sender: expect.any(String), conversation: cid } });
  });
});

type AuditEntry = {
  operation: string;
  organization: string;
  key_id: string;
  target: Record<string, string>;
  status: number;
  code: string | null;
};
