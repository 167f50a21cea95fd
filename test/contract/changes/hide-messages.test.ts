import { describe, expect, test } from "bun:test";
import { openFeed } from "../../harness/clients/sse.ts";
import type { DryRun, MessageReport } from "../../harness/clients/wire.ts";
import { expectProblem } from "../../harness/reading/expectations.ts";
import { useHerald } from "../../harness/servers/herald.ts";
import { createOrganization, type Organization } from "../../harness/servers/organization.ts";
import { exportOf, importInto } from "../transfer/lines.ts";

const herald = useHerald();

async function roomWith(count: number): Promise<{ org: Organization; cid: string; ids: string[] }> {
  const org = await createOrganization(herald());
  const cid = await org.conversation(["alice", "bob"]);
  const ids: string[] = [];
  for (let n = 0; n < count; n++) ids.push((await org.sent("alice", { cid, body: `m${n}` })).server_mid);
  return { org, cid, ids };
}

async function hide(org: Organization, uid: string, cid: string, ...ids: string[]): Promise<boolean> {
  const answer = await org.recall(uid, { cid, ids, type: "myself" });
  expect([answer.status, answer.text]).toEqual([200, '{"success":true}']);
  return answer.headers.get("idempotent-replayed") !== "true";
}

/** What a user sees of a conversation: the messages oldest first, by each way to list them, the last one, and what is unread. */
async function seenBy(org: Organization, uid: string, cid: string, ids: string[]) {
  using socket = await org.socket(uid);
  const listed = async (query: object) =>
    ((await socket.request("message_list", { cid, limit: 100, ...query })).messages ?? []).map(({ _id }) => _id);
  const messages = (await listed({})).reverse();
  expect((await listed({ ids })).reverse()).toEqual(messages);
  expect((await listed({ updated_at: { gt: 0 } })).reverse()).toEqual(messages);
  const { conversations = [] } = await socket.request("conversation_list");
  const room = conversations.find(({ _id }) => _id === cid);
  return { messages, last: room?.last_message?._id, unread: room?.unread_messages_count };
}

/** The ids of all that a user hears who comes back, until a message that is sent then. */
async function missedBy(org: Organization, uid: string, cid: string, since: string) {
  const { server_mid } = await org.sent("alice", { cid, body: "end" });
  const heard: unknown[] = [];
  using socket = await org.socket(uid, { since });
  for (;;) {
    const { message, message_edit: edit, message_delete: gone, message_reactions_update: update } = await socket.next();
    if (message?._id === server_mid) return heard;
    heard.push(message?._id ?? edit?.id ?? update?.mid ?? [gone?.type, ...(gone?.ids ?? [])]);
  }
}

describe("messages that a user hides", () => {
  test("are missing from the user's lists, last message, unread count and nowhere else", async () => {
    const { org, cid, ids } = await roomWith(4);
    const [first = "", second = "", third = "", fourth = ""] = ids;
    const all = { messages: ids, last: fourth };
    expect(await seenBy(org, "bob", cid, ids)).toEqual({ ...all, unread: 4 });
    expect(await hide(org, "bob", cid, second, fourth)).toBe(true);
    expect(await seenBy(org, "bob", cid, ids)).toEqual({ messages: [first, third], last: third, unread: 2 });
    expect(await seenBy(org, "alice", cid, ids)).toEqual({ ...all, unread: 0 });
    expect((await org.history(cid)).map(({ _id }) => _id)).toEqual(ids.toReversed());
    const report = await herald().admin<MessageReport>("GET", org.path("messages", second));
    expect(report.body.message).toMatchObject({ body: "m1" });
    expect((await exportOf(org)).filter(({ message }) => message !== undefined)).toHaveLength(4);
    expect(await hide(org, "bob", cid, first, third)).toBe(true);
    expect(await seenBy(org, "bob", cid, ids)).toEqual({ messages: [], last: undefined, unread: 0 });
    await org.hasRead("bob", cid);
    expect((await org.connect("bob")).response).toMatchObject({ success: true });
  });

  test("stay hidden page after page, also where a page ends with one", async () => {
    const { org, cid, ids } = await roomWith(9);
    const hidden = ids.filter((_, index) => index % 3 === 1);
    await hide(org, "bob", cid, ...hidden);
    const shown = ids.filter((id) => !hidden.includes(id));
    using bob = await org.socket("bob");
    const pages: string[] = [];
    for (let before: string | undefined = hidden[2]; before !== undefined; ) {
      const { messages = [] }: { messages?: { _id: string }[] } = await bob.request("message_list", {
        cid,
        before,
        limit: 2,
      });
      expect(messages.length).toBeLessThanOrEqual(2);
      pages.push(...messages.map(({ _id }) => _id));
      before = messages.at(-1)?._id;
    }
    expect(pages.reverse()).toEqual(shown.slice(0, 5));
    const { messages } = await bob.request("message_list", { cid, after: hidden[0], limit: 100 });
    expect(messages?.map(({ _id }) => _id)).toEqual(shown.slice(1));
  });

  test("are told to the user's own connections only, once, in the order of the log", async () => {
    const { org, cid, ids } = await roomWith(3);
    const [first = "", second = "", third = ""] = ids;
    using phone = await org.socket("bob");
    using stream = await org.sse("bob");
    using alice = await org.socket("alice");
    using feed = await openFeed(herald().url, org.id, herald().key);
    expect(await hide(org, "bob", cid, first, second, first)).toBe(true);
    expect(await hide(org, "bob", cid, second, first)).toBe(false);
    expect(await hide(org, "bob", cid, third, first)).toBe(true);
    const told = { cid, from: "bob", type: "myself", t: expect.any(Number) };
    for (const listener of [phone, stream]) {
      expect(await listener.next()).toEqual({ message_delete: { ids: [first, second], ...told } });
      expect(await listener.next()).toEqual({ message_delete: { ids: [third], ...told } });
    }
    expect(phone.frames.at(-1)).toMatch(
      /^\{"message_delete":\{"ids":.*,"cid":.*,"from":.*,"type":"myself","t":\d+\}\}$/,
    );
    expect(stream.raw.at(-1)).toMatchObject({ event: "message_delete", id: undefined });
    await org.expectNothingElse(phone, stream, alice);
    const { server_mid } = await org.sent("alice", { cid, body: "next" });
    expect((await feed.next(({ message }) => message !== undefined)).message?._id).toBe(server_mid);
  });

  test("are not replayed, nor what changes them; that they were hidden is, to their user", async () => {
    const { org, cid, ids } = await roomWith(4);
    const [first = "", second = "", third = "", fourth = ""] = ids;
    await org.edited("alice", { id: first, body: "first, edited" });
    await org.edited("alice", { id: second, body: "second, edited" });
    await org.reacted("alice", second, { add: "👍" });
    await hide(org, "bob", cid, second, third);
    await org.reacted("alice", third, { add: "👍" });
    await org.reacted("alice", fourth, { add: "👍" });
    expect(await missedBy(org, "bob", cid, first)).toEqual([fourth, first, ["myself", second, third], fourth]);
    expect(await missedBy(org, "alice", cid, third)).toEqual([
      fourth,
      first,
      second,
      second,
      third,
      fourth,
      expect.any(String),
    ]);
  });

  test("are replayed completely where a whole page changes hidden ones", async () => {
    const { org, cid, ids } = await roomWith(2);
    const [first = "", second = ""] = ids;
    await hide(org, "bob", cid, second);
    for (let n = 0; n < 120; n++) await org.reacted("alice", second, n % 2 === 0 ? { add: "👍" } : { remove: "👍" });
    expect(await missedBy(org, "bob", cid, first)).toEqual([["myself", second]]);
  });

  test("hides displace no message from the last 250 events", async () => {
    const { org, cid, ids } = await roomWith(1);
    const lines = Array.from({ length: 260 }, (_, n) => ({
      message: { id: `p-${n}`, cid, senderId: "alice", body: "past", created_at: "2024-01-01T00:00:00Z" },
    }));
    await importInto(org, lines);
    const past = (await org.history(cid)).map(({ _id }) => _id).filter((id) => !ids.includes(id));
    for (const id of past) await hide(org, "bob", cid, id);
    expect(await seenBy(org, "bob", cid, ids)).toEqual({ messages: ids, last: ids[0], unread: 1 });
  });

  test("cannot be replied to or forwarded, nor their reactions be listed, by the user who hid them", async () => {
    const { org, cid, ids } = await roomWith(1);
    const [first = ""] = ids;
    await hide(org, "bob", cid, first);
    const reply = { cid, body: "re", replied_message_id: first };
    expectProblem(await org.send("bob", reply), 404, "message_not_found");
    await org.sent("alice", reply);
    using bob = await org.socket("bob");
    const answer = await bob.request("message_reactions_list", { mid: first });
    expect(answer.error).toMatchObject({ status: 404, code: "message_not_found" });
  });

  test("are refused by the rules of a recall, and then none is hidden", async () => {
    const { org, cid, ids } = await roomWith(2);
    const [first = "", second = ""] = ids;
    const other = await org.conversation(["bob"]);
    const { server_mid: elsewhere } = await org.sent("bob", { cid: other, body: "x" });
    const attempt = (uid: string, change: object) => org.recall(uid, { cid, ids, type: "myself", ...change });
    expectProblem(await attempt("bob", { ids: [first, "nothing"] }), 404, "message_not_found");
    expectProblem(await attempt("bob", { ids: [first, elsewhere] }), 404, "message_not_found");
    expectProblem(await attempt("carol", {}), 403, "sender_not_participant");
    expectProblem(await attempt("bob", { cid: "nowhere" }), 404, "conversation_not_found");
    expectProblem(await attempt("bob", { type: "mine" }), 422, "invalid_request");
    await org.recalled("alice", cid, second);
    expectProblem(await attempt("bob", {}), 404, "message_not_found");
    expect((await seenBy(org, "bob", cid, ids)).messages).toEqual([first]);
  });

  test("can be tried, which reaches the user, and are recorded with the user in the audit log", async () => {
    const { org, cid, ids } = await roomWith(1);
    using _phone = await org.socket("bob");
    const request = { organizationId: org.id, senderId: "bob", messageDelete: { cid, ids, type: "myself" } };
    const tried = await herald().admin<DryRun>("DELETE", "/admin/message?dry_run=true", request);
    expect(tried.body).toEqual({ dry_run: { recipients: 1, online: 1, unknown_users: [] } });
    expect((await seenBy(org, "bob", cid, ids)).messages).toEqual(ids);
    await hide(org, "bob", cid, ...ids);
    const query = `?organization=${encodeURIComponent(org.id)}&operation=recallMessages&limit=1`;
    const { body } = await herald().admin<{ items: { target: object }[] }>("GET", `/admin/audit${query}`);
    const target = { organization: org.id, sender: "bob", conversation: cid, user: "bob", messages: ids };
    expect(body.items).toMatchObject([{ target, result: "done" }]);
  });

  test("stay hidden from who leaves and joins again, and not from a new user with the id of one who was erased", async () => {
    const { org, cid, ids } = await roomWith(2);
    const [first = "", second = ""] = ids;
    await hide(org, "bob", cid, first);
    await org.leave(cid, "bob");
    await org.join(cid, "bob");
    expect((await seenBy(org, "bob", cid, ids)).messages).toEqual([second]);
    expect((await herald().admin("DELETE", `${org.path("users", "bob")}?messages=erase`)).status).toBe(204);
    await org.join(cid, "bob");
    expect((await seenBy(org, "bob", cid, ids)).messages).toEqual(ids);
  });
});
