import { describe, expect, test } from "bun:test";
import type { Page, Proposal } from "../../harness/clients/wire.ts";
import { eventually } from "../../harness/deadline.ts";
import { expectProblem, ISO_MILLISECONDS, UUID_V7 } from "../../harness/reading/expectations.ts";
import { useHerald } from "../../harness/servers/herald.ts";
import { callWith, createKey } from "../../harness/servers/keys.ts";
import { createOrganization, readList } from "../../harness/servers/organization.ts";
import { proposing } from "../../harness/servers/proposing.ts";

const herald = useHerald();
const dayMs = 86_400_000;

/** An organization, a key of it that proposes, and one that decides. */
async function setUp() {
  const org = await createOrganization(herald());
  const cid = await org.conversation(["alice", "bob"]);
  const organization = org.id;
  const agent = await createKey(herald(), { organization, scopes: ["message:propose"] });
  const person = await createKey(herald(), { organization, scopes: ["message:send", "system:send", "history:read"] });
  return { org, cid, agent, person, ...proposing(org) };
}

describe("a proposal", () => {
  test("waits for a day, and reaches nobody", async () => {
    const { org, cid, agent, put, get, messageOf } = await setUp();
    using bob = await org.socket("bob");
    const request = messageOf("alice", { cid, body: "a refund", x: { n: 1 } });
    const answer = await put("one", { request, reason: "late parcel" }, agent.key);
    expect(answer.status).toBe(201);
    expect(answer.body).toEqual({
      id: "one",
      state: "waiting",
      request: { ...request, message: { body: "a refund", cid, x: { n: 1 }, attachments: [] } },
      reason: "late parcel",
      proposed_by: agent.id,
      created_at: expect.stringMatching(ISO_MILLISECONDS),
      expires_at: expect.stringMatching(ISO_MILLISECONDS),
      decided_by: null,
      decided_at: null,
      decision_reason: null,
      server_mid: null,
      problem: null,
    });
    const { created_at, expires_at } = answer.body;
    expect(Date.parse(expires_at) - Date.parse(created_at)).toBe(dayMs);
    expect((await get("one")).body).toEqual(answer.body);
    await org.expectNothingElse(bob);
  });

  test("is sent when another key approves it, like any other message, and then says what became of it", async () => {
    const { org, cid, agent, person, put, get, approve, messageOf } = await setUp();
    using bob = await org.socket("bob");
    await put("one", { request: messageOf("alice", { id: "m-1", cid, body: "a refund" }) }, agent.key);
    const approved = await approve("one", person.key, { reason: "fine" });
    const message = (await bob.next()).message;
    expect(message).toMatchObject({ from: "alice", body: "a refund", cid });
    expect([approved.status, approved.body]).toEqual([
      200,
      {
        ...(await get("one")).body,
        state: "approved",
        request: null,
        decided_by: person.id,
        decided_at: message?.created_at ?? "",
        decision_reason: "fine",
        server_mid: message?._id ?? "",
      },
    ]);
    const again = await approve("one", person.key);
    expect([again.status, again.body]).toEqual([200, approved.body]);
    expect((await get("one", agent.key)).body).toEqual(approved.body);
    const retry = await org.send("alice", { id: "m-1", cid, body: "a refund" });
    expect([retry.body.ask.server_mid, retry.headers.get("idempotent-replayed")]).toEqual([message?._id ?? "", "true"]);
    await org.expectNothingElse(bob);
  });

  test("may be a system message, whose `server_mid` is the id that its recipients know", async () => {
    const { org, agent, person, put, approve, systemOf } = await setUp();
    using bob = await org.socket("bob");
    for (const id of ["notice-1", undefined]) {
      const pid = `of ${id}`;
      await put(pid, { request: systemOf("alice", { id, uids: ["bob"], x: { pid } }) }, agent.key);
      const { server_mid: mid } = (await approve(pid, person.key)).body;
      const heard = (await bob.next()).system_message;
      expect([heard?.x, mid]).toEqual([{ pid }, heard?._id ?? ""]);
      expect(mid).toMatch(id === undefined ? UUID_V7 : /^notice-1$/);
    }
  });

  test("is never sent once it is rejected", async () => {
    const { org, cid, agent, person, put, approve, reject, messageOf } = await setUp();
    await put("one", { request: messageOf("alice", { cid, body: "never" }) }, agent.key);
    const rejected = await reject("one", person.key, { reason: "rude" });
    expect(rejected.body).toMatchObject({ state: "rejected", request: null, decided_by: person.id, server_mid: null });
    expect(rejected.body).toMatchObject({
      decision_reason: "rude",
      decided_at: expect.stringMatching(ISO_MILLISECONDS),
    });
    expect((await reject("one", person.key)).body).toEqual(rejected.body);
    expectProblem(await approve("one", person.key), 409, "already_sent");
    await put("two", { request: messageOf("alice", { cid, body: "said" }) }, agent.key);
    await approve("two", person.key);
    expectProblem(await reject("two", person.key), 409, "already_sent");
    expectProblem(await approve("three", person.key), 404, "not_found");
    expectProblem(await reject("three", person.key), 404, "not_found");
    expect((await org.history(cid)).map(({ body }) => body)).toEqual(["said"]);
  });

  test("is the same when it is proposed again, whatever became of it, and never another", async () => {
    const { cid, agent, person, put, get, approve, messageOf } = await setUp();
    const wish = { request: messageOf("alice", { cid, body: "first" }), reason: "why" };
    const first = await put("one", wish, agent.key);
    const same = await put("one", { ...wish, request: messageOf("alice", { cid, body: "first", x: {} }) }, agent.key);
    expect([same.status, same.body]).toEqual([200, first.body]);
    for (const other of [
      { ...wish, reason: "another" },
      { request: wish.request },
      { ...wish, request: messageOf("alice", { cid, body: "second" }) },
    ])
      expectProblem(await put("one", other, agent.key), 409, "message_id_conflict");
    const { key: rival } = await createKey(herald(), { scopes: ["message:propose"] });
    expectProblem(await put("one", wish, rival), 409, "message_id_conflict");
    await approve("one", person.key);
    const late = await put("one", wish, agent.key);
    expect([late.status, late.body]).toEqual([200, (await get("one")).body]);
    expect(late.body.state).toBe("approved");
  });

  test("is listed oldest first, by state, page by page; and a key that only proposes sees its own", async () => {
    const { org, cid, agent, person, put, get, approve, reject, messageOf } = await setUp();
    const { id, key: rival } = await createKey(herald(), { organization: org.id, scopes: ["message:propose"] });
    for (const pid of ["d", "c", "b", "a"]) {
      const key = pid === "c" ? rival : agent.key;
      await put(pid, { request: messageOf("alice", { cid, body: pid }) }, key);
      await eventually(async () => (Date.now() > Date.parse((await get(pid)).body.created_at) ? true : undefined), "");
    }
    await approve("d", person.key);
    await reject("b", person.key);
    const idsOf = async (query = "") =>
      (await readList<Proposal>(herald(), org.path("proposals"), 2, query)).map((one) => one.id);
    expect(await idsOf()).toEqual(["d", "c", "b", "a"]);
    expect(await idsOf("state=waiting")).toEqual(["c", "a"]);
    expect([await idsOf("state=approved"), await idsOf("state=rejected")]).toEqual([["d"], ["b"]]);
    expect([await idsOf("state=failed"), await idsOf("state=expired")]).toEqual([[], []]);
    const seenBy = async (key: string, query: string) => {
      const answer = await callWith<Page<Proposal>>(herald(), key, "GET", org.path("proposals") + query);
      return answer.body.items.map(({ id, proposed_by }) => [id, proposed_by]);
    };
    expect(await seenBy(rival, "")).toEqual([["c", id]]);
    expect(await seenBy(agent.key, "?state=waiting")).toEqual([["a", agent.id]]);
    expectProblem(await get("a", rival), 404, "not_found");
    for (const query of ["?state=late", "?limit=0", "?cursor=x"])
      expectProblem(await herald().admin("GET", org.path("proposals") + query), 422, "invalid_request");
  });

  test("that could not be sent now is refused now, as the send would be", async () => {
    const { org, cid, agent, put, get, messageOf, systemOf } = await setUp();
    await org.sent("alice", { id: "taken", cid, body: "other" });
    const cases: [request: object, status: number, code: string, pointer?: string][] = [
      [messageOf("carol", { cid, body: "x" }), 403, "sender_not_participant"],
      [messageOf("alice", { cid: "nowhere", body: "x" }), 404, "conversation_not_found"],
      [messageOf("alice", { id: "taken", cid, body: "x" }), 409, "message_id_conflict"],
      [messageOf("alice", { cid, body: "" }), 422, "invalid_request", "/request/message"],
      [systemOf("nobody", { uids: ["bob"] }), 404, "sender_not_found"],
      [systemOf("alice", { uids: [] }), 422, "invalid_request", "/request/messageSystem/uids"],
      [{ ...messageOf("alice", { cid, body: "x" }), send_at: "2030-01-01T00:00:00Z" }, 422, "invalid_request"],
      [{ ...messageOf("alice", { cid, body: "x" }), organizationId: "other" }, 403, "organization_forbidden"],
    ];
    for (const [request, status, code, pointer] of cases)
      expectProblem(await put("one", { request }, agent.key), status, code, pointer);
    const request = messageOf("alice", { cid, body: "x" });
    expectProblem(await put("one", { request: { ...request, organizationId: "other" } }), 422, "invalid_request");
    for (const reason of ["", "x".repeat(1_001), 5])
      expectProblem(await put("one", { request, reason }, agent.key), 422, "invalid_request", "/reason");
    expectProblem(await get("one"), 404, "not_found");
    const nowhere = await createOrganization(herald());
    await herald().admin("DELETE", nowhere.path());
    const elsewhere = proposing(nowhere);
    const lost = elsewhere.messageOf("alice", { cid, body: "x" });
    expectProblem(await elsewhere.put("one", { request: lost }), 404, "organization_not_found");
    for (const call of [elsewhere.get, elsewhere.approve, elsewhere.reject])
      expectProblem(await call("one"), 404, "organization_not_found");
    expectProblem(await herald().admin("GET", nowhere.path("proposals")), 404, "organization_not_found");
  });

  test("that can no longer be sent has failed once it is approved, with the problem, and stays so", async () => {
    const { org, cid, agent, person, put, get, approve, reject, messageOf } = await setUp();
    await put("one", { request: messageOf("bob", { cid, body: "x" }) }, agent.key);
    await put("two", { request: messageOf("alice", { cid, body: "x" }) }, agent.key);
    await org.leave(cid, "bob");
    const failed = await approve("one", person.key);
    expect(failed.status).toBe(200);
    expect(failed.body).toMatchObject({
      state: "failed",
      request: null,
      decided_by: person.id,
      server_mid: null,
      problem: { status: 403, code: "sender_not_participant" },
    });
    await org.join(cid, "bob");
    expect((await approve("one", person.key)).body).toEqual(failed.body);
    expectProblem(await reject("one", person.key), 409, "already_sent");
    await herald().admin("DELETE", `/admin/keys/${agent.id}`);
    expect((await approve("two", person.key)).body).toMatchObject({
      state: "failed",
      problem: { code: "unauthorized" },
    });
    expect((await get("two")).body.problem?.detail).toContain("was revoked");
    expect(await org.history(cid)).toEqual([]);
  });

  test("is in the audit log with who proposed and who decided", async () => {
    const { org, cid, agent, person, put, approve, reject, messageOf } = await setUp();
    for (const pid of ["one", "two"]) await put(pid, { request: messageOf("alice", { cid, body: pid }) }, agent.key);
    const { server_mid } = (await approve("one", person.key)).body;
    await reject("two", person.key);
    expectProblem(await approve("one", agent.key), 403, "insufficient_scope");
    const path = `/admin/audit?organization=${encodeURIComponent(org.id)}`;
    const entries = await eventually(async () => {
      const { items } = (await herald().admin<Page<AuditEntry>>("GET", path)).body;
      const found = items.filter(({ operation }) => operation.endsWith("Proposal"));
      return found.length === 5 ? found.reverse() : undefined;
    }, "five entries");
    const target = { organization: org.id, sender: "alice" };
    expect(entries.map((entry) => [entry.operation, entry.key_id, entry.status, entry.target])).toEqual([
      ["putProposal", agent.id, 201, { ...target, proposal: "one", conversation: cid }],
      ["putProposal", agent.id, 201, { ...target, proposal: "two", conversation: cid }],
      ["approveProposal", person.id, 200, { ...target, proposal: "one", proposer: agent.id, message: server_mid }],
      ["rejectProposal", person.id, 200, { ...target, proposal: "two", proposer: agent.id }],
      ["approveProposal", agent.id, 403, { organization: org.id, proposal: "one" }],
    ]);
  });
});

type AuditEntry = {
  operation: string;
  key_id: string;
  target: Record<string, string | null>;
  status: number;
};
