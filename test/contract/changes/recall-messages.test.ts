import { describe, expect, test } from "bun:test";
import type { DryRun, MessageReport, Page } from "../../harness/clients/wire.ts";
import { expectProblem } from "../../harness/reading/expectations.ts";
import { useHerald } from "../../harness/servers/herald.ts";
import { callWith, createKey } from "../../harness/servers/keys.ts";
import { createOrganization, type Organization } from "../../harness/servers/organization.ts";
import { importInto } from "../transfer/lines.ts";

const herald = useHerald();

async function roomWith(count: number): Promise<{ org: Organization; cid: string; ids: string[] }> {
  const org = await createOrganization(herald());
  const cid = await org.conversation(["alice", "bob"]);
  const ids: string[] = [];
  for (let index = 0; index < count; index++)
    ids.push((await org.sent("alice", { cid, body: `message ${index}` })).server_mid);
  return { org, cid, ids };
}

const idsOf = (messages: readonly { _id: string }[] = []) => messages.map(({ _id }) => _id);

describe("a recall of messages", () => {
  test("answers success, and every participant hears one event for all of them", async () => {
    const { org, cid, ids } = await roomWith(3);
    using alice = await org.socket("alice");
    using bob = await org.sse("bob");
    using carol = await org.socket("carol");
    const [first = "", , third = ""] = ids;
    const answer = await org.recall("bob", { cid, ids: [third, first, third], type: "all" });
    expect([answer.status, answer.text]).toEqual([200, '{"success":true}']);
    for (const listener of [alice, bob]) {
      const { message_delete: recall, ...others } = await listener.next();
      expect(others).toEqual({});
      expect(recall).toEqual({ ids: [third, first], cid, from: "bob", type: "all", t: expect.any(Number) });
    }
    expect(alice.frames.at(-1)).toMatch(/^\{"message_delete":\{"ids":.*,"cid":.*,"from":.*,"type":"all","t":\d+\}\}$/);
    expect(bob.raw.at(-1)).toMatchObject({ event: "message_delete", id: undefined });
    await org.expectNothingElse(alice, bob, carol);
  });

  test("takes them out of every list, and leaves the others", async () => {
    const { org, cid, ids } = await roomWith(4);
    const [first = "", second = "", third = "", fourth = ""] = ids;
    await org.edited("alice", { id: second, body: "edited" });
    await org.recalled("alice", cid, second, fourth);
    expect(idsOf(await org.history(cid))).toEqual([third, first]);
    using bob = await org.socket("bob");
    const list = async (query: object) => idsOf((await bob.request("message_list", { cid, ...query })).messages);
    expect(await list({})).toEqual([third, first]);
    expect(await list({ after: second })).toEqual([third]);
    expect(await list({ before: second })).toEqual([first]);
    expect(await list({ limit: 1, before: fourth })).toEqual([third]);
    const page = await herald().admin<Page<{ _id: string }>>(
      "GET",
      `${org.path("conversations", cid, "messages")}?limit=2`,
    );
    expect([idsOf(page.body.items), page.body.cursor]).toEqual([[third, first], null]);
    const exported = await herald().admin("GET", org.path("export"));
    expect(exported.text).toContain(third);
    for (const gone of [second, fourth, "edited", "message 3"]) expect(exported.text).not.toContain(gone);
  });

  test("leaves the report, without the text, and with the time and how many had acknowledged", async () => {
    const { org, cid, ids } = await roomWith(1);
    const [id = ""] = ids;
    using bob = await org.socket("bob");
    await bob.request("ack", { ids: [id] });
    await org.edited("alice", { id, body: "edited" });
    const before = await herald().admin<MessageReport>("GET", org.path("messages", id));
    await org.recalled("alice", cid, id);
    using alice = await org.socket("alice");
    await alice.request("ack", { ids: [id] });
    const { status, body } = await herald().admin<MessageReport>("GET", org.path("messages", id));
    const { _id, t, from, created_at, edited_at } = before.body.message;
    expect([status, body.message]).toEqual([200, { _id, t, from, cid, created_at, edited_at } as typeof body.message]);
    expect(body.recalled_at).toMatch(/^\d{4}-.*\.\d{3}Z$/);
    expect(body.key_id).toBe(before.body.key_id);
    expect(body.delivery).toMatchObject({ acknowledged_users: 2, acknowledged_before_recall: 1 });
  });

  test("leaves the retry of the send a retry, which delivers nothing", async () => {
    const { org, cid } = await roomWith(0);
    const message = { id: "m-1", cid, body: "x" };
    const { server_mid: id, t } = await org.sent("alice", message);
    await org.recalled("alice", cid, id);
    using bob = await org.socket("bob");
    const retry = await org.send("alice", message);
    expect([retry.status, retry.body.ask]).toEqual([201, { mid: "m-1", server_mid: id, t }]);
    expect(retry.headers.get("idempotent-replayed")).toBe("true");
    expect(await org.history(cid)).toEqual([]);
    await org.expectNothingElse(bob);
  });

  test("takes back nothing if one of them is not there: unknown, taken back, or of another conversation", async () => {
    const { org, cid, ids } = await roomWith(3);
    const [first = "", second = "", third = ""] = ids;
    const elsewhere = await org.conversation(["alice"]);
    const { server_mid: other } = await org.sent("alice", { cid: elsewhere, body: "x" });
    const { mid } = await org.sentSystem("alice", { id: "s-1", uids: ["alice"] });
    await org.recalled("alice", cid, third);
    using bob = await org.socket("bob");
    for (const wrong of ["nothing", third, other, mid])
      expectProblem(
        await org.recall("alice", { cid, ids: [first, wrong, second], type: "all" }),
        404,
        "message_not_found",
      );
    expectProblem(await org.edit("alice", { id: third, body: "x" }), 404, "message_not_found");
    expect(idsOf(await org.history(cid))).toEqual([second, first]);
    await org.expectNothingElse(bob);
  });

  test("is refused where it names nothing, or its sender takes no part", async () => {
    const { org, cid, ids } = await roomWith(1);
    const other = await createOrganization(herald());
    const messageDelete = { cid, ids, type: "all" };
    expectProblem(await org.recall("carol", messageDelete), 403, "sender_not_participant");
    expectProblem(await org.recall("alice", { ...messageDelete, cid: "nowhere" }), 404, "conversation_not_found");
    expectProblem(await other.recall("alice", messageDelete), 404, "conversation_not_found");
    const nowhere = { organizationId: "nowhere", senderId: "alice", messageDelete };
    expectProblem(await herald().admin("DELETE", "/admin/message", nowhere), 404, "organization_not_found");
    const refused = async (body: Record<string, unknown>, pointer: string) => {
      const answer = await org.recall("alice", body);
      expectProblem(answer, 422, "invalid_request");
      expect(answer.text).toContain(`"pointer":${JSON.stringify(pointer)}`);
    };
    await refused({ cid, ids: [], type: "all" }, "/messageDelete/ids");
    await refused({ cid, ids: Array.from({ length: 101 }, (_, n) => `${n}`), type: "all" }, "/messageDelete/ids");
    await refused({ cid, ids, type: "own" }, "/messageDelete/type");
    await refused({ cid, ids }, "/messageDelete/type");
    await refused({ ids, type: "all" }, "/messageDelete/cid");
    expect(idsOf(await org.history(cid))).toEqual(ids);
  });

  test("needs the scope `message:edit`", async () => {
    const { org, cid, ids } = await roomWith(1);
    const request = { organizationId: org.id, senderId: "bob", messageDelete: { cid, ids, type: "all" } };
    const sender = await createKey(herald(), { scopes: ["message:send", "directory:write"] });
    expectProblem(await callWith(herald(), sender.key, "DELETE", "/admin/message", request), 403, "insufficient_scope");
    const editor = await createKey(herald(), { scopes: ["message:edit"], organization: org.id });
    expect((await callWith(herald(), editor.key, "DELETE", "/admin/message", request)).status).toBe(200);
    expect(await org.history(cid)).toEqual([]);
  });

  test("is in the audit log with every id", async () => {
    const { org, cid, ids } = await roomWith(2);
    await org.recalled("bob", cid, ...ids);
    const audit = await herald().admin<Page<{ operation: string; target: object }>>(
      "GET",
      `/admin/audit?organization=${encodeURIComponent(org.id)}`,
    );
    expect(audit.body.items[0]).toMatchObject({
      operation: "recallMessages",
      target: { organization: org.id, sender: "bob", conversation: cid, messages: ids },
    });
  });

  test("can be tried without making it", async () => {
    const { org, cid, ids } = await roomWith(1);
    using bob = await org.socket("bob");
    const attempt = (messageDelete: object) =>
      herald().admin<DryRun>("DELETE", "/admin/message?dry_run=true", {
        organizationId: org.id,
        senderId: "bob",
        messageDelete,
      });
    const answer = await attempt({ cid, ids, type: "all" });
    expect([answer.status, answer.body]).toEqual([200, { dry_run: { recipients: 2, online: 1, unknown_users: [] } }]);
    expectProblem(await attempt({ cid, ids: [...ids, "nothing"], type: "all" }), 404, "message_not_found");
    expect(idsOf(await org.history(cid))).toEqual(ids);
    await org.expectNothingElse(bob);
  });

  test("frees what the messages and their edits used of the storage", async () => {
    const { org, cid } = await roomWith(0);
    const used = async () =>
      (await herald().admin<{ usage: { stored_bytes: number } }>("GET", org.path())).body.usage.stored_bytes;
    const { server_mid: id } = await org.sent("alice", { cid, body: "x".repeat(10_000) });
    await org.edited("alice", { id, body: "y".repeat(20_000) });
    const before = await used();
    expect(before).toBeGreaterThan(40_000);
    expect(before).toBeLessThan(42_000);
    await org.edited("alice", { id, body: "z".repeat(1_000) });
    expect(await used()).toBeLessThan(4_000);
    await org.recalled("alice", cid, id);
    expect(await used()).toBeLessThan(1_000);
  });

  test("takes back an imported message, and importing it again does not bring it back", async () => {
    const { org, cid } = await roomWith(0);
    const line = { message: { id: "i-1", cid, senderId: "carol", body: "old", created_at: "2020-01-01T00:00:00Z" } };
    await importInto(org, [line]);
    const [old] = await org.history(cid);
    await org.recalled("bob", cid, old?._id ?? "");
    expect((await importInto(org, [line])).end).toMatchObject({ failed: 0 });
    expect(await org.history(cid)).toEqual([]);
  });
});
