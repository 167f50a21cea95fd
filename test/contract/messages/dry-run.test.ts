import { describe, expect, test } from "bun:test";
import type { Conversation, DryRun, MessageInput } from "../../harness/clients/wire.ts";
import { expectProblem } from "../../harness/reading/expectations.ts";
import { type Answer, startHerald, useHerald } from "../../harness/servers/herald.ts";
import { callWith, createKey } from "../../harness/servers/keys.ts";
import { createOrganization, type Organization } from "../../harness/servers/organization.ts";

const herald = useHerald();

function post<T = DryRun>(path: string, body: unknown, query = "?dry_run=true"): Promise<Answer<T>> {
  return herald().admin<T>("POST", `/admin/${path}${query}`, body);
}
const messageOf = (org: string, senderId: string, message: MessageInput) => ({
  organizationId: org,
  senderId,
  message,
});
const systemOf = (org: string, senderId: string, messageSystem: MessageInput) => ({
  organizationId: org,
  senderId,
  messageSystem,
});
const tryMessage = (org: Organization, senderId: string, message: MessageInput) =>
  post("message", messageOf(org.id, senderId, message));
const trySystem = (org: Organization, senderId: string, messageSystem: MessageInput) =>
  post("message/system", systemOf(org.id, senderId, messageSystem));

describe("a dry run", () => {
  test("of a message says how many recipients it has and how many are online, and sends nothing", async () => {
    const org = await createOrganization(herald());
    const cid = await org.conversation(["alice", "bob", "carol"]);
    using bob = await org.socket("bob");
    using _again = await org.sse("bob");
    using _stranger = await org.socket("dave");
    const answer = await tryMessage(org, "alice", { id: "m-1", cid, body: "x" });
    expect([answer.status, answer.body]).toEqual([200, { dry_run: { recipients: 3, online: 1, unknown_users: [] } }]);
    expect(answer.headers.has("idempotent-replayed")).toBe(false);
    expect(await org.history(cid)).toEqual([]);
    await org.expectNothingElse(bob);
  });

  test("of a system message names unknown users, once each", async () => {
    const org = await createOrganization(herald());
    for (const uid of ["alice", "bob"]) await org.user(uid);
    using bob = await org.socket("bob");
    const uids = ["bob", "nobody", "alice", "__proto__", "nobody"];
    const answer = await trySystem(org, "alice", { id: "s-1", uids });
    expect([answer.status, answer.body]).toEqual([
      200,
      { dry_run: { recipients: 4, online: 1, unknown_users: ["nobody", "__proto__"] } },
    ]);
    await org.expectNothingElse(bob);
    const report = await herald().admin("GET", org.path("system-messages", "s-1"));
    expectProblem(report, 404, "message_not_found");
  });

  test("uses up no id, and leaves no trace in the conversation", async () => {
    const org = await createOrganization(herald());
    const cid = await org.conversation(["alice"]);
    using alice = await org.socket("alice");
    const conversations = async () => (await alice.request("conversation_list")).conversations as Conversation[];
    const before = await conversations();
    for (const body of ["one", "another"])
      expect((await tryMessage(org, "alice", { id: "m", cid, body })).status).toBe(200);
    expect(await conversations()).toEqual(before);
    const sent = await org.send("alice", { id: "m", cid, body: "third" });
    expect([sent.status, sent.headers.has("idempotent-replayed")]).toEqual([201, false]);
    expect((await org.history(cid)).map(({ body }) => body)).toEqual(["third"]);
  });

  test("says of an earlier send that it is a retry", async () => {
    const org = await createOrganization(herald());
    const cid = await org.conversation(["alice"]);
    await org.sent("alice", { id: "m", cid, body: "x" });
    await org.sentSystem("alice", { id: "s", uids: ["alice"] });
    const message = await tryMessage(org, "alice", { id: "m", cid, body: "x" });
    const system = await trySystem(org, "alice", { id: "s", uids: ["alice"] });
    for (const answer of [message, system])
      expect([answer.status, answer.headers.get("idempotent-replayed")]).toEqual([200, "true"]);
    await org.leave(cid, "alice"); // a retry is one, whoever is there now
    expect((await tryMessage(org, "alice", { id: "m", cid, body: "x" })).body.dry_run.recipients).toBe(0);
  });

  test("is refused like the send: the same errors, in the same order", async () => {
    const org = await createOrganization(herald());
    const other = await createOrganization(herald());
    const cid = await org.conversation(["alice"]);
    await org.user("bob");
    await org.sent("alice", { id: "m", cid, body: "x" });
    await org.sentSystem("alice", { id: "s", uids: ["alice"] });
    const { key } = await createKey(herald(), { organization: org.id, allowed_senders: ["alice"] });
    const body = "y";
    const refused: [path: string, body: object][] = [
      ["message", {}],
      ["message", messageOf(org.id, "alice", { cid })],
      ["message", messageOf(org.id, "alice", { cid, body, uids: [] })],
      ["message", messageOf("nowhere", "alice", { id: "m", cid, body })],
      ["message", messageOf(other.id, "alice", { cid, body })],
      ["message", messageOf(org.id, "bob", { cid: "nothing", body })],
      ["message", messageOf(org.id, "alice", { cid: "nothing", body })],
      ["message", messageOf(org.id, "alice", { id: "m", cid: "nothing", body })],
      ["message", messageOf(org.id, "alice", { id: "m", cid, body })],
      ["message", messageOf(org.id, "carol", { cid, body })],
      ["message/system", systemOf(org.id, "alice", { uids: [] })],
      ["message/system", systemOf("nowhere", "alice", { uids: ["alice"] })],
      ["message/system", systemOf(other.id, "alice", { uids: ["alice"] })],
      ["message/system", systemOf(org.id, "nobody", { uids: ["alice"] })],
      ["message/system", systemOf(org.id, "alice", { id: "s", uids: ["bob"] })],
    ];
    for (const [path, request] of refused) {
      for (const credential of [key, herald().key, "not a key"]) {
        const call = (query: string) => callWith(herald(), credential, "POST", `/admin/${path}${query}`, request);
        const [tried, sent] = [await call("?dry_run=true"), await call("")];
        expect(sent.status).toBeGreaterThanOrEqual(400);
        expect({ ...tried.body, request_id: "" }).toEqual({ ...sent.body, request_id: "" });
      }
    }
  });

  test("requires the scope of the send, and is subject to its rate", async () => {
    const org = await createOrganization(herald());
    const cid = await org.conversation(["alice"]);
    const request = messageOf(org.id, "alice", { cid, body: "x" });
    const { key } = await createKey(herald(), { scopes: ["observe", "history:read", "system:send"] });
    expectProblem(
      await callWith(herald(), key, "POST", "/admin/message?dry_run=true", request),
      403,
      "insufficient_scope",
    );
    const { key: sender } = await createKey(herald(), { scopes: ["message:send"] });
    expect((await callWith(herald(), sender, "POST", "/admin/message?dry_run=true", request)).status).toBe(200);

    await using slow = await startHerald({
      env: { HERALD_LIMIT_REQUESTS_PER_SECOND: "1", HERALD_LIMIT_REQUESTS_BURST: "1" },
    });
    const answers = await Promise.all(
      Array.from({ length: 5 }, () => slow.admin("POST", "/admin/message?dry_run=true", request)),
    );
    expect(answers.map(({ status }) => status).filter((status) => status === 429).length).toBeGreaterThanOrEqual(3);
  });

  test("is one only if it says so: false sends, and any other value is refused", async () => {
    const org = await createOrganization(herald());
    const cid = await org.conversation(["alice"]);
    const request = messageOf(org.id, "alice", { cid, body: "x" });
    expect((await post<unknown>("message", request, "?dry_run=false")).status).toBe(201);
    for (const value of ["", "1", "TRUE", "yes"])
      expectProblem(await post<unknown>("message", request, `?dry_run=${value}`), 422, "invalid_request", "/dry_run");
    for (const query of ["?dryRun=true", "?dry-run=true", "?dry_run=true&dry_run=true"])
      expectProblem(await post<unknown>("message", request, query), 422, "invalid_request");
    expect(await org.history(cid)).toHaveLength(1);
  });

  test("counts the participants of a large conversation, and 10,000 named users", async () => {
    const org = await createOrganization(herald());
    const uids = Array.from({ length: 10_000 }, (_, index) => `user ${index}`);
    const cid = await org.conversation(uids);
    using _first = await org.socket("user 0");
    using _last = await org.socket("user 9999");
    const message = await tryMessage(org, "user 0", { cid, body: "x" });
    expect(message.body.dry_run).toEqual({ recipients: 10_000, online: 2, unknown_users: [] });
    const named = [...uids.slice(1), "nobody"];
    const system = await trySystem(org, "user 0", { uids: named });
    expect(system.body.dry_run).toEqual({ recipients: 10_000, online: 1, unknown_users: ["nobody"] });
  });
});
