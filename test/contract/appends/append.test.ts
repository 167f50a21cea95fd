import { describe, expect, test } from "bun:test";
import { openFeed } from "../../harness/clients/sse.ts";
import type { MessageReport, Problem } from "../../harness/clients/wire.ts";
import { eventually } from "../../harness/deadline.ts";
import { expectProblem } from "../../harness/reading/expectations.ts";
import { useHerald } from "../../harness/servers/herald.ts";
import { createOrganization, type Organization } from "../../harness/servers/organization.ts";
import { exportOf } from "../transfer/lines.ts";

const herald = useHerald();

async function openMessage(
  body = "",
): Promise<{ org: Organization; cid: string; id: string; grow(text: string, done?: boolean): Promise<number> }> {
  const org = await createOrganization(herald());
  const cid = await org.conversation(["agent", "bob"]);
  const { server_mid: id } = await org.sent("agent", { cid, body, open: true });
  let offset = [...body].length;
  const grow = async (text: string, done?: boolean) => {
    offset = await org.appended("agent", { id, offset, text, ...(done !== undefined && { done }) });
    return offset;
  };
  return { org, cid, id, grow };
}

const pieceOf = (id: string, cid: string, offset: number, text: string, done = false) => ({
  message_append: { id, cid, from: "agent", offset, text, done, t: expect.any(Number) },
});

describe("a message that grows", () => {
  test("is heard piece by piece on sockets, streams and the feed, and is complete in lists", async () => {
    const org = await createOrganization(herald());
    const cid = await org.conversation(["agent", "bob"]);
    using bob = await org.socket("bob");
    using agent = await org.sse("agent");
    using feed = await openFeed(herald().url, org.id, herald().key, {});
    using carol = await org.socket("carol");
    const { server_mid: id } = await org.sent("agent", { cid, body: "Hé", open: true });
    const answer = await org.append("agent", { id, offset: 2, text: "llo 👋" });
    expect([answer.status, answer.text, answer.headers.has("idempotent-replayed")]).toEqual([
      200,
      '{"success":true,"length":7}',
      false,
    ]);
    expect(await org.appended("agent", { id, offset: 7, text: "!", done: true })).toBe(8);
    for (const listener of [bob, agent, feed]) {
      expect(await listener.next()).toMatchObject({ message: { _id: id, body: "Hé", open: true } });
      expect(await listener.next()).toEqual(pieceOf(id, cid, 2, "llo 👋"));
      expect(await listener.next()).toEqual(pieceOf(id, cid, 7, "!", true));
    }
    const [listed] = await org.history(cid);
    expect(listed).toMatchObject({ _id: id, body: "Héllo 👋!" });
    expect(listed).not.toHaveProperty("open");
    expect(listed).not.toHaveProperty("edited_at");
    await org.expectNothingElse(bob, agent, carol);
  });

  test("is not changed by the same piece again, and says how long it is to another", async () => {
    const { org, cid, id, grow } = await openMessage();
    using bob = await org.socket("bob");
    await grow("one ");
    const again = await org.append("agent", { id, offset: 0, text: "one " });
    expect([again.status, again.body.length, again.headers.get("idempotent-replayed")]).toEqual([200, 4, "true"]);
    for (const [offset, text] of [
      [0, "other"],
      [3, "two"],
      [5, "two"],
    ] as const) {
      const refused = await org.append<Problem & { length: number }>("agent", { id, offset, text });
      expectProblem(refused, 409, "append_conflict");
      expect(refused.body.length).toBe(4);
    }
    await grow("two", true);
    const last = await org.append("agent", { id, offset: 4, text: "two", done: true });
    expect([last.status, last.body.length, last.headers.get("idempotent-replayed")]).toEqual([200, 7, "true"]);
    const more = await org.append<Problem & { length: number }>("agent", { id, offset: 7, text: "three" });
    expectProblem(more, 409, "append_conflict");
    expect(more.body.length).toBe(7);
    expect(await bob.next()).toEqual(pieceOf(id, cid, 0, "one "));
    expect(await bob.next()).toEqual(pieceOf(id, cid, 4, "two", true));
    await org.expectNothingElse(bob);
  });

  test("refuses who may not, and what does not fit", async () => {
    const { org, cid, id } = await openMessage();
    const piece = { id, offset: 0, text: "x" };
    expectProblem(await org.append<Problem>("bob", piece), 403, "sender_not_owner");
    expectProblem(await org.append<Problem>("agent", { ...piece, id: "nothing" }), 404, "message_not_found");
    expectProblem(await org.append<Problem>("agent", { ...piece, text: "" }), 422, "invalid_request");
    expectProblem(await org.append<Problem>("agent", { ...piece, text: "\ud800" }), 422, "invalid_request");
    const most = "x".repeat(65_536);
    expect(await org.appended("agent", { ...piece, text: most })).toBe(65_536);
    expectProblem(await org.append<Problem>("agent", { id, offset: 65_536, text: "x" }), 422, "invalid_request");
    const { server_mid: whole } = await org.sent("agent", { cid, body: "whole" });
    const refused = await org.append<Problem & { length: number }>("agent", { id: whole, offset: 5, text: "x" });
    expectProblem(refused, 409, "append_conflict");
    expect(refused.body.length).toBe(5);
    await org.leave(cid, "agent");
    expectProblem(
      await org.append<Problem>("agent", { id, offset: 65_536, done: true, text: "" }),
      403,
      "sender_not_participant",
    );
  });

  test("is listed with all its text so far, however it is asked for", async () => {
    const { org, cid, id, grow } = await openMessage("begin ");
    let text = "begin ";
    using bob = await org.socket("bob");
    for (let piece = 0; piece < 120; piece++) {
      const words = `${"word ".repeat(piece % 13)}${piece} `;
      await grow(words);
      text += words;
      if (piece % 20 !== 7) continue;
      const open = { _id: id, body: text, open: true };
      expect(await org.history(cid)).toMatchObject([open]);
      const { messages } = await bob.request("message_list", { cid });
      expect(messages).toMatchObject([open]);
      const { messages: named } = await bob.request("message_list", { cid, ids: [id] });
      expect(named).toMatchObject([open]);
      const { conversations } = await bob.request("conversation_list");
      expect(conversations?.[0]?.last_message).toMatchObject(open);
      const lines = await exportOf(org);
      expect(JSON.stringify(lines)).toContain(text);
    }
    await grow("", true);
    expect(await org.history(cid)).toMatchObject([{ _id: id, body: text }]);
  });

  test("is replayed whole with `since`, or the rest of it as one piece", async () => {
    const { org, cid, id, grow } = await openMessage("a");
    const { server_mid: before } = await org.sent("bob", { cid, body: "before" });
    void before;
    await grow("b");
    const { server_mid: between } = await org.sent("bob", { cid, body: "between" });
    await grow("c");
    await grow("d");
    {
      using bob = await org.socket("bob", { since: between });
      expect(await bob.next()).toEqual(pieceOf(id, cid, 2, "cd"));
      await grow("e");
      expect(await bob.next()).toEqual(pieceOf(id, cid, 4, "e"));
      await org.expectNothingElse(bob);
    }
    {
      using bob = await org.socket("bob", { since: id });
      expect(await bob.next()).toEqual(pieceOf(id, cid, 1, "bcde"));
      expect(await bob.next()).toMatchObject({ message: { body: "before" } });
      expect(await bob.next()).toMatchObject({ message: { body: "between" } });
      await org.expectNothingElse(bob);
    }
    const first = await org.sent("bob", { cid, body: "first" });
    const { server_mid: later } = await org.sent("agent", { cid, body: "x", open: true });
    await org.appended("agent", { id: later, offset: 1, text: "y" });
    await grow("f", true);
    {
      using bob = await org.socket("bob", { since: first.server_mid });
      expect(await bob.next()).toEqual(pieceOf(id, cid, 5, "f", true));
      expect(await bob.next()).toMatchObject({ message: { _id: later, body: "xy", open: true } });
      await org.appended("agent", { id: later, offset: 2, text: "z", done: true });
      expect(await bob.next()).toEqual(pieceOf(later, cid, 2, "z", true));
      await org.expectNothingElse(bob);
    }
    using bob = await org.socket("bob", { since: first.server_mid });
    expect(await bob.next()).toEqual(pieceOf(id, cid, 5, "f", true));
    const whole = await bob.next();
    expect(whole).toMatchObject({ message: { _id: later, body: "xyz" } });
    expect(whole.message).not.toHaveProperty("open");
    await org.expectNothingElse(bob);
  });

  test("is edited only once it is complete, and nothing of the old text comes back", async () => {
    const { org, cid, id, grow } = await openMessage("old ");
    const { server_mid: after } = await org.sent("bob", { cid, body: "after" });
    expectProblem(await org.edit<Problem>("agent", { id, body: "new" }), 409, "message_open");
    await grow("text", true);
    await org.edited("agent", { id, body: "new" });
    using bob = await org.socket("bob", { since: after });
    expect(await bob.next()).toMatchObject({ message_edit: { id, body: "new" } });
    await org.expectNothingElse(bob);
    const lines = await exportOf(org);
    expect(JSON.stringify(lines)).not.toContain("text");
  });

  test("is taken back while it grows, and grows no more", async () => {
    const { org, cid, id, grow } = await openMessage("secret ");
    const { server_mid: after } = await org.sent("bob", { cid, body: "after" });
    await grow("words");
    await org.recalled("bob", cid, id);
    expectProblem(await org.append<Problem>("agent", { id, offset: 12, text: "x" }), 404, "message_not_found");
    using bob = await org.socket("bob", { since: after });
    expect(await bob.next()).toMatchObject({ message_delete: { ids: [id] } });
    await org.expectNothingElse(bob);
  });

  test("is not told by `since` to a user who has hidden it, however it grows", async () => {
    const { org, cid, id, grow } = await openMessage("begin ");
    const { server_mid: since } = await org.sent("agent", { cid, body: "since" });
    await grow("more ");
    const hidden = await org.recall("bob", { cid, ids: [id], type: "myself" });
    expect(hidden.status).toBe(200);
    await grow("text");
    {
      using bob = await org.socket("bob", { since });
      expect(await bob.next()).toMatchObject({ message_delete: { ids: [id], type: "myself" } });
      await org.expectNothingElse(bob);
    }
    await grow("", true);
    using bob = await org.socket("bob", { since });
    expect(await bob.next()).toMatchObject({ message_delete: { ids: [id], type: "myself" } });
    await org.expectNothingElse(bob);
    using agent = await org.socket("agent", { since });
    expect(await agent.next()).toEqual(pieceOf(id, cid, 6, "more text", true));
    await org.expectNothingElse(agent);
  });

  test("counts as unread, and in its report, once it is complete", async () => {
    const { org, id, grow } = await openMessage("hello");
    using bob = await org.socket("bob");
    const unread = async () => (await bob.request("conversation_list")).conversations?.[0]?.unread_messages_count;
    const report = async () => (await herald().admin<MessageReport>("GET", org.path("messages", id))).body.delivery;
    await grow(" there");
    expect(await unread()).toBe(0);
    expect(await report()).toMatchObject({ recipients: 2, delivered_users: 0 });
    await grow("", true);
    expect(await unread()).toBe(1);
    await eventually(
      async () => ((await report()).delivered_users === 1 ? true : undefined),
      () => "the report does not tell of the delivery",
    );
    expect(await report()).toMatchObject({ recipients: 2, delivered_users: 1, delivered_connections: 1 });
  });

  test("is not scheduled, nor proposed, nor sent in a batch", async () => {
    const org = await createOrganization(herald());
    const cid = await org.conversation(["agent"]);
    const request = { organizationId: org.id, senderId: "agent", message: { cid, body: "x", open: true } };
    const send_at = new Date(Date.now() + 60_000).toISOString();
    const put = await herald().admin<Problem>("PUT", org.path("scheduled", "s"), { send_at, request });
    expectProblem(put, 422, "invalid_request", "/request/message/open");
    const proposed = await herald().admin<Problem>("PUT", org.path("proposals", "p"), { request });
    expectProblem(proposed, 422, "invalid_request", "/request/message/open");
    const { text } = await herald().http<unknown>("POST", "/admin/message/batch", {
      body: `${JSON.stringify(request)}\n`,
      headers: { "Admin-Api-Key": herald().key, "Content-Type": "application/x-ndjson" },
    });
    expect(text).toContain("/message/open");
  });
});
