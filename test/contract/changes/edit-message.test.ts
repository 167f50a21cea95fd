import { describe, expect, test } from "bun:test";
import type { DryRun, MessageReport, Page } from "../../harness/clients/wire.ts";
import { asShown, expectProblem } from "../../harness/reading/expectations.ts";
import { useHerald } from "../../harness/servers/herald.ts";
import { callWith, createKey } from "../../harness/servers/keys.ts";
import { createOrganization, type Organization } from "../../harness/servers/organization.ts";
import { importInto } from "../transfer/lines.ts";

const herald = useHerald();

async function roomWithMessage(
  message: Record<string, unknown> = {},
): Promise<{ org: Organization; cid: string; id: string }> {
  const org = await createOrganization(herald());
  const cid = await org.conversation(["alice", "bob"]);
  const { server_mid: id } = await org.sent("alice", { cid, body: "before", x: { a: 1 }, ...message });
  return { org, cid, id };
}

describe("an edit of a message", () => {
  test("answers success, and every participant hears it on sockets and streams, the author too", async () => {
    const { org, cid, id } = await roomWithMessage();
    using alice = await org.socket("alice");
    using bob = await org.sse("bob");
    using carol = await org.socket("carol");
    const began = Math.floor(Date.now() / 1000);
    const answer = await org.edit("alice", { id, body: "after", x: { b: [1.5] } });
    expect([answer.status, answer.text]).toEqual([200, '{"success":true}']);
    for (const listener of [alice, bob]) {
      const { message_edit: edit, ...others } = await listener.next();
      expect(others).toEqual({});
      expect(edit).toEqual({ id, cid, from: "alice", body: "after", x: { b: [1.5] }, t: expect.any(Number) });
      expect(edit?.t).toBeGreaterThanOrEqual(began);
    }
    expect(alice.frames.at(-1)).toMatch(/^\{"message_edit":\{"id":.*,"cid":.*,"from":.*,"body":.*,"x":.*,"t":\d+\}\}$/);
    expect(bob.raw.at(-1)).toMatchObject({ event: "message_edit", id: undefined });
    await org.expectNothingElse(alice, bob, carol);
  });

  test("changes the message in every list, with the time of the edit, and leaves its place and other members", async () => {
    const { org, cid, id } = await roomWithMessage({ attachments: [{ name: "a.txt" }] });
    const [sent] = await org.history(cid);
    const { server_mid: later } = await org.sent("bob", { cid, body: "later" });
    await org.edited("alice", { id, body: "after" });
    const [last, edited] = await org.history(cid);
    expect(last).toMatchObject({ _id: later, body: "later" });
    expect(last).not.toHaveProperty("edited_at");
    if (sent === undefined) throw new Error("the message is missing");
    expect(edited).toEqual({ ...sent, body: "after", edited_at: expect.stringMatching(/^\d{4}-.*\.\d{3}Z$/) });
    using bob = await org.socket("bob");
    const { messages } = await bob.request("message_list", { cid });
    const attachments = messages?.[1]?.attachments ?? []; // with what is known of each file
    expect(attachments).toMatchObject(edited?.attachments ?? []);
    expect(messages?.[1]).toEqual({ ...asShown(edited), attachments });
    const report = await herald().admin<MessageReport>("GET", org.path("messages", id));
    expect(report.body.message).toEqual(edited as NonNullable<typeof edited>);
  });

  test("keeps the custom parameters unless it has some, and replaces them as a whole", async () => {
    const { org, cid, id } = await roomWithMessage({ x: { a: 1, b: { __proto__: null, c: 2 } } });
    await org.edited("alice", { id, body: "one" });
    expect((await org.history(cid))[0]).toMatchObject({ body: "one", x: { a: 1, b: { c: 2 } } });
    await org.edited("alice", { id, body: "two", x: {} });
    expect((await org.history(cid))[0]?.x).toEqual({});
  });

  test("that says what the message says already stores nothing, and nobody hears it", async () => {
    const { org, cid, id } = await roomWithMessage();
    using bob = await org.socket("bob");
    const same = await org.edit("alice", { id, body: "before" });
    expect([same.status, same.text, same.headers.get("idempotent-replayed")]).toEqual([
      200,
      '{"success":true}',
      "true",
    ]);
    expect((await org.history(cid))[0]).not.toHaveProperty("edited_at");
    const first = await org.edit("alice", { id, body: "after", x: { b: 1, a: 2 } });
    expect(first.headers.has("idempotent-replayed")).toBe(false);
    await org.edited("alice", { id, body: "after", x: { a: 2, b: 1 } });
    expect((await bob.next()).message_edit?.body).toBe("after");
    await org.expectNothingElse(bob);
  });

  test("can be repeated, and each is heard in order", async () => {
    const { org, cid, id } = await roomWithMessage();
    using bob = await org.socket("bob");
    for (const body of ["one", "two", "before"]) await org.edited("alice", { id, body });
    for (const body of ["one", "two", "before"]) expect((await bob.next()).message_edit?.body).toBe(body);
    expect((await org.history(cid)).map(({ body }) => body)).toEqual(["before"]);
    await org.expectNothingElse(bob);
  });

  test("leaves the retry of the send a retry", async () => {
    const { org, cid } = await roomWithMessage();
    const message = { id: "m-1", cid, body: "before" };
    const { server_mid: id } = await org.sent("alice", message);
    await org.edited("alice", { id, body: "after" });
    const retry = await org.send("alice", message);
    expect([retry.body.ask.server_mid, retry.headers.get("idempotent-replayed")]).toEqual([id, "true"]);
    expect((await org.history(cid)).map(({ body }) => body)).toEqual(["after", "before"]);
  });

  test("works on an imported message", async () => {
    const { org, cid } = await roomWithMessage();
    const line = { message: { id: "i-1", cid, senderId: "carol", body: "old", created_at: "2020-01-01T00:00:00Z" } };
    expect((await importInto(org, [line])).end).toMatchObject({ failed: 0 });
    await org.join(cid, "carol");
    const [, old] = await org.history(cid);
    using bob = await org.socket("bob");
    await org.edited("carol", { id: old?._id, body: "new" });
    expect((await bob.next()).message_edit).toMatchObject({ id: old?._id, body: "new" });
    expect((await importInto(org, [line])).end).toMatchObject({ failed: 0 });
    expect((await org.history(cid))[1]).toMatchObject({ body: "new", created_at: "2020-01-01T00:00:00.000Z" });
  });

  test("is refused, and changes nothing, where it names nothing, or somebody else's", async () => {
    const { org, cid, id } = await roomWithMessage();
    const other = await createOrganization(herald());
    await other.user("alice");
    using bob = await org.socket("bob");
    const before = await org.history(cid);
    const body = "x";
    expectProblem(await org.edit("alice", { id: "nothing", body }), 404, "message_not_found");
    expectProblem(await org.edit("bob", { id, body }), 403, "sender_not_owner");
    expectProblem(await org.edit("carol", { id, body }), 403, "sender_not_participant");
    expectProblem(await other.edit("alice", { id, body }), 404, "message_not_found");
    const nowhere = { organizationId: "nowhere", senderId: "alice", messageEdit: { id, body } };
    expectProblem(await herald().admin("PUT", "/admin/message", nowhere), 404, "organization_not_found");
    const { mid } = await org.sentSystem("alice", { id: "s-1", uids: ["alice"] });
    expectProblem(await org.edit("alice", { id: mid, body }), 404, "message_not_found");
    await org.leave(cid, "alice");
    expectProblem(await org.edit("alice", { id, body }), 403, "sender_not_participant");
    await herald().admin("DELETE", org.path("conversations", cid));
    await org.conversation(["alice", "bob"], cid);
    expectProblem(await org.edit("alice", { id, body }), 404, "message_not_found");
    expect(before[0]?.body).toBe("before");
    await org.expectNothingElse(bob);
  });

  test("obeys the limits of a send", async () => {
    const { org, id } = await roomWithMessage();
    const refused = async (messageEdit: Record<string, unknown>, pointer: string) => {
      const answer = await org.edit("alice", messageEdit);
      expectProblem(answer, 422, "invalid_request");
      expect(answer.text).toContain(`"pointer":${JSON.stringify(pointer)}`);
    };
    await refused({ id, body: "" }, "/messageEdit/body");
    await refused({ id }, "/messageEdit/body");
    await refused({ body: "x" }, "/messageEdit/id");
    await refused({ id, body: "x".repeat(65_537) }, "/messageEdit/body");
    await refused({ id, body: "a\u0000" }, "/messageEdit/body");
    await refused({ id, body: "x", x: { a: "x".repeat(33_000) } }, "/messageEdit/x");
    await refused({ id, body: "x", attachments: [] }, "/messageEdit/attachments");
    const withFile = await roomWithMessage({ attachments: [{ name: "a" }] });
    await withFile.org.edited("alice", { id: withFile.id, body: "" });
    expect((await withFile.org.history(withFile.cid))[0]?.body).toBe("");
  });

  test("needs the scope `message:edit`, the key's organization and an allowed sender", async () => {
    const { org, cid, id } = await roomWithMessage();
    const request = { organizationId: org.id, senderId: "alice", messageEdit: { id, body: "after" } };
    const sender = await createKey(herald(), { scopes: ["message:send"] });
    expectProblem(await callWith(herald(), sender.key, "PUT", "/admin/message", request), 403, "insufficient_scope");
    const scopes = ["message:edit"];
    const elsewhere = await createOrganization(herald());
    const foreign = await createKey(herald(), { scopes, organization: elsewhere.id });
    expectProblem(
      await callWith(herald(), foreign.key, "PUT", "/admin/message", request),
      403,
      "organization_forbidden",
    );
    const bobs = await createKey(herald(), { scopes, allowed_senders: ["bob"] });
    expectProblem(await callWith(herald(), bobs.key, "PUT", "/admin/message", request), 403, "sender_forbidden");
    const editor = await createKey(herald(), { scopes, organization: org.id });
    expect((await callWith(herald(), editor.key, "PUT", "/admin/message", request)).status).toBe(200);
    expect((await org.history(cid))[0]?.body).toBe("after");
  });

  test("is in the audit log with its ids, and without its text", async () => {
    const { org, id } = await roomWithMessage();
    await org.edited("alice", { id, body: "unspeakable" });
    const audit = await herald().admin<Page<{ operation: string; target: object }>>(
      "GET",
      `/admin/audit?organization=${encodeURIComponent(org.id)}`,
    );
    expect(audit.body.items[0]).toMatchObject({
      operation: "editMessage",
      target: { organization: org.id, sender: "alice", message: id },
    });
    expect(audit.text).not.toContain("unspeakable");
  });

  test("can be tried without making it", async () => {
    const { org, cid, id } = await roomWithMessage();
    using bob = await org.socket("bob");
    const attempt = (messageEdit: object, senderId = "alice") =>
      herald().admin<DryRun>("PUT", "/admin/message?dry_run=true", { organizationId: org.id, senderId, messageEdit });
    const answer = await attempt({ id, body: "after" });
    expect([answer.status, answer.body]).toEqual([200, { dry_run: { recipients: 2, online: 1, unknown_users: [] } }]);
    expect((await attempt({ id, body: "before" })).headers.get("idempotent-replayed")).toBe("true");
    expectProblem(await attempt({ id, body: "after" }, "bob"), 403, "sender_not_owner");
    expectProblem(await attempt({ id: "nothing", body: "after" }), 404, "message_not_found");
    expect((await org.history(cid))[0]?.body).toBe("before");
    await org.expectNothingElse(bob);
  });

  test("tells in the report how many had acknowledged what it said before", async () => {
    const { org, id } = await roomWithMessage();
    using bob = await org.socket("bob");
    await bob.request("ack", { ids: [id] });
    await org.edited("alice", { id, body: "after" });
    using alice = await org.socket("alice");
    await alice.request("ack", { ids: [id] });
    const { body } = await herald().admin<MessageReport>("GET", org.path("messages", id));
    expect(body.delivery).toMatchObject({ acknowledged_users: 2, acknowledged_before_edit: 1 });
    expect(body).not.toHaveProperty("recalled_at");
  });
});
