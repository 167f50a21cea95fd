import { describe, expect, test } from "bun:test";
import { openFeed } from "../../harness/clients/sse.ts";
import type { DryRun, Page, SystemMessageReport } from "../../harness/clients/wire.ts";
import { eventually } from "../../harness/deadline.ts";
import { expectProblem } from "../../harness/reading/expectations.ts";
import { useHerald } from "../../harness/servers/herald.ts";
import { callWith, createKey } from "../../harness/servers/keys.ts";
import { createOrganization, type Organization } from "../../harness/servers/organization.ts";

const herald = useHerald();

async function withUsers(): Promise<Organization> {
  const org = await createOrganization(herald());
  for (const uid of ["backend", "alice", "bob", "carol"]) await org.user(uid);
  return org;
}

const reportOf = (org: Organization, mid: string) =>
  herald().admin<SystemMessageReport>("GET", org.path("system-messages", mid));

describe("a recall of system messages", () => {
  test("answers success, and whoever one was addressed to hears its id, and nobody else", async () => {
    const org = await withUsers();
    const cid = await org.conversation(["backend", "carol"]);
    using alice = await org.socket("alice");
    using bob = await org.sse("bob");
    using carol = await org.socket("carol");
    await org.sentSystem("backend", { id: "a", uids: ["alice", "bob"] });
    await org.sentSystem("backend", { id: "b", uids: ["alice", "bob"] });
    await org.sentSystem("backend", { id: "c", uids: ["bob"] });
    await org.sentSystem("backend", { id: "d", cid });
    await org.sentSystem("backend", { id: "e", everyone: true });
    for (const [listener, count] of [
      [alice, 3],
      [bob, 4],
      [carol, 2],
    ] as const)
      for (let heard = 0; heard < count; heard++) await listener.next();
    const answer = await org.recallSystem("backend", ["e", "b", "d", "a", "c", "a"]);
    expect([answer.status, answer.text]).toEqual([200, '{"success":true}']);
    const heardBy = async (listener: typeof alice | typeof bob, count: number) => {
      const ids: string[][] = [];
      for (let heard = 0; heard < count; heard++) {
        const { system_message_delete: recall, ...others } = await listener.next();
        expect(others).toEqual({});
        expect(recall).toEqual({ ids: expect.any(Array), from: "backend", t: expect.any(Number) });
        ids.push(recall?.ids ?? []);
      }
      return ids;
    };
    expect(await heardBy(alice, 2)).toEqual([["e"], ["b", "a"]]);
    expect(await heardBy(bob, 3)).toEqual([["e"], ["b", "a"], ["c"]]);
    expect(await heardBy(carol, 2)).toEqual([["e"], ["d"]]);
    expect(alice.frames.at(-1)).toMatch(/^\{"system_message_delete":\{"ids":\[.*\],"from":"backend","t":\d+\}\}$/);
    expect(bob.raw.at(-1)).toMatchObject({ event: "system_message_delete", id: undefined });
    await org.expectNothingElse(alice, bob, carol);
  });

  test("leaves the report, without the parameters, and with the time and how many had acknowledged", async () => {
    const org = await withUsers();
    using bob = await org.socket("bob");
    await org.sentSystem("backend", { id: "paid", uids: ["alice", "bob"], x: { amount: 12 } });
    await bob.next();
    await bob.request("ack", { ids: ["paid"] });
    const before = await reportOf(org, "paid");
    await org.recalledSystem("backend", "paid");
    const { body } = await eventually(async () => {
      const report = await reportOf(org, "paid");
      return report.body.delivery.acknowledged_before_recall === 1 ? report : undefined;
    }, "a report with the acknowledgement before the recall");
    const { x: _, ...left } = before.body.system_message;
    expect(body.system_message).toEqual(left as typeof body.system_message);
    expect(body.recalled_at).toMatch(/^\d{4}-.*\.\d{3}Z$/);
    expect([body.key_id, body.delivery.by_user]).toEqual([before.body.key_id, { alice: "offline", bob: "delivered" }]);
    expect(before.body).not.toHaveProperty("recalled_at");
  });

  test("leaves the retry of the send a retry, which delivers nothing", async () => {
    const org = await withUsers();
    const message = { id: "s-1", uids: ["bob"], x: { a: 1 } };
    const { t } = await org.sentSystem("backend", message);
    await org.recalledSystem("backend", "s-1");
    using bob = await org.socket("bob");
    const retry = await org.sendSystem("backend", message);
    expect([retry.status, retry.body.ack]).toEqual([201, { mid: "s-1", t }]);
    expect(retry.headers.get("idempotent-replayed")).toBe("true");
    await org.expectNothingElse(bob);
  });

  test("takes back nothing if one of them is not there: unknown, taken back, or of another sender", async () => {
    const org = await withUsers();
    const cid = await org.conversation(["backend", "alice"]);
    const gone = await org.conversation(["backend", "alice"]);
    await org.sentSystem("backend", { id: "kept", uids: ["alice"] });
    await org.sentSystem("backend", { id: "taken", uids: ["alice"] });
    await org.sentSystem("alice", { id: "hers", uids: ["alice"] });
    await org.sentSystem("backend", { id: "unheard", cid: gone });
    await herald().admin("DELETE", org.path("conversations", gone));
    const { server_mid: message } = await org.sent("backend", { id: "message", cid, body: "x" });
    await org.recalledSystem("backend", "taken");
    using alice = await org.socket("alice");
    for (const wrong of ["nothing", "taken", "hers", "unheard", "message", message])
      expectProblem(await org.recallSystem("backend", ["kept", wrong]), 404, "message_not_found");
    expect((await reportOf(org, "kept")).body.recalled_at).toBeUndefined();
    await org.expectNothingElse(alice);
  });

  test("is refused where it names nothing, or nobody", async () => {
    const org = await withUsers();
    await org.sentSystem("backend", { id: "s-1", uids: ["alice"] });
    expectProblem(await org.recallSystem("nobody", ["s-1"]), 404, "sender_not_found");
    const nowhere = { organizationId: "nowhere", senderId: "backend", messageSystemDelete: { ids: ["s-1"] } };
    expectProblem(await herald().admin("DELETE", "/admin/message/system", nowhere), 404, "organization_not_found");
    for (const ids of [[], Array.from({ length: 101 }, (_, index) => `${index}`)]) {
      const answer = await org.recallSystem("backend", ids);
      expectProblem(answer, 422, "invalid_request");
      expect(answer.text).toContain('"pointer":"/messageSystemDelete/ids"');
    }
  });

  test("needs the scope `message:edit`, and the right to act as the sender", async () => {
    const org = await withUsers();
    await org.sentSystem("backend", { id: "s-1", uids: ["alice"] });
    const request = { organizationId: org.id, senderId: "backend", messageSystemDelete: { ids: ["s-1"] } };
    const callAs = ({ key }: { key: string }) => callWith(herald(), key, "DELETE", "/admin/message/system", request);
    expectProblem(await callAs(await createKey(herald(), { scopes: ["system:send"] })), 403, "insufficient_scope");
    const another = { scopes: ["message:edit"], organization: org.id, allowed_senders: ["alice"] };
    expectProblem(await callAs(await createKey(herald(), another)), 403, "sender_forbidden");
    const editor = await createKey(herald(), { scopes: ["message:edit"], organization: org.id });
    expect((await callAs(editor)).status).toBe(200);
  });

  test("is in the audit log with every id", async () => {
    const org = await withUsers();
    await org.sentSystem("backend", { id: "s-1", uids: ["alice"] });
    await org.recalledSystem("backend", "s-1");
    const audit = await herald().admin<Page<{ operation: string; target: object }>>(
      "GET",
      `/admin/audit?organization=${encodeURIComponent(org.id)}`,
    );
    expect(audit.body.items[0]).toMatchObject({
      operation: "recallSystemMessages",
      target: { organization: org.id, sender: "backend", messages: ["s-1"] },
    });
  });

  test("can be tried without making it, which counts each user once", async () => {
    const org = await withUsers();
    const cid = await org.conversation(["backend", "carol"]);
    await org.sentSystem("backend", { id: "list", uids: ["alice", "bob", "stranger"] });
    await org.sentSystem("backend", { id: "again", uids: ["bob"] });
    await org.sentSystem("backend", { id: "room", cid });
    await org.sentSystem("backend", { id: "all", everyone: true });
    using bob = await org.socket("bob");
    const attempt = (...ids: string[]) =>
      herald().admin<DryRun>("DELETE", "/admin/message/system?dry_run=true", {
        organizationId: org.id,
        senderId: "backend",
        messageSystemDelete: { ids },
      });
    expect((await attempt("list", "again")).body).toEqual({
      dry_run: { recipients: 3, online: 1, unknown_users: ["stranger"] },
    });
    expect((await attempt("list", "room")).body.dry_run).toMatchObject({ recipients: 5, online: 1 });
    expect((await attempt("list", "all")).body.dry_run).toMatchObject({ recipients: 4, online: 1 });
    expectProblem(await attempt("list", "nothing"), 404, "message_not_found");
    expect((await reportOf(org, "list")).body.recalled_at).toBeUndefined();
    await org.expectNothingElse(bob);
  });

  test("is shown by feeds of their users, sender and conversation", async () => {
    const org = await withUsers();
    const cid = await org.conversation(["backend", "carol"]);
    const feed = (filter: Parameters<typeof openFeed>[3]) => openFeed(herald().url, org.id, herald().key, filter);
    using ofBob = await feed({ uid: "bob" });
    using ofSender = await feed({ uid: "backend" });
    using ofRoom = await feed({ cid, kind: "system_message_delete" });
    await org.sentSystem("backend", { id: "list", uids: ["bob"] });
    await org.sentSystem("backend", { id: "room", cid });
    await org.recalledSystem("backend", "list", "room");
    const recalled = (ids: string[]) => ({ system_message_delete: { ids, from: "backend", t: expect.any(Number) } });
    expect((await ofBob.next()).system_message?._id).toBe("list");
    expect(await ofBob.next()).toEqual(recalled(["list"]));
    for (const id of ["list", "room"]) expect((await ofSender.next()).system_message?._id).toBe(id);
    for (const id of ["list", "room"]) expect(await ofSender.next()).toEqual(recalled([id]));
    expect(await ofRoom.next()).toEqual(recalled(["room"]));
  });

  test("frees what they used of the storage, but for their recipients", async () => {
    const org = await withUsers();
    const used = async () =>
      (await herald().admin<{ usage: { stored_bytes: number } }>("GET", org.path())).body.usage.stored_bytes;
    const before = await used();
    await org.sentSystem("backend", { id: "s-1", everyone: true, x: { text: "x".repeat(10_000) } });
    expect((await used()) - before).toBeGreaterThan(10_000);
    await org.recalledSystem("backend", "s-1");
    expect((await used()) - before).toBeLessThan(300);
  });
});
