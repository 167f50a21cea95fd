import { describe, expect, test } from "bun:test";
import type { Socket } from "../../harness/clients/socket.ts";
import { type FeedQuery, openFeed } from "../../harness/clients/sse.ts";
import type { DryRun, Event, MessageReport } from "../../harness/clients/wire.ts";
import { eventually } from "../../harness/deadline.ts";
import { expectProblem } from "../../harness/reading/expectations.ts";
import { useHerald } from "../../harness/servers/herald.ts";
import { callWith, createKey } from "../../harness/servers/keys.ts";
import { createOrganization, type Organization } from "../../harness/servers/organization.ts";

const herald = useHerald();

const put = (body: unknown, query = "") => herald().admin("PUT", `/admin/message/read${query}`, body);

/** Sends so many messages, one after the other, and returns their ids. */
async function sendMany(org: Organization, senderId: string, cid: string, count: number): Promise<string[]> {
  const ids: string[] = [];
  for (let sent = 0; sent < count; sent++) ids.push((await org.sent(senderId, { cid, body: "x" })).server_mid);
  return ids;
}

async function setUp(participants = ["alice", "bob", "carol"]): Promise<{ org: Organization; cid: string }> {
  const org = await createOrganization(herald());
  return { org, cid: await org.conversation(participants) };
}

async function unreadOf(socket: Socket, cid: string): Promise<number | undefined> {
  const { conversations = [] } = await socket.request("conversation_list");
  return conversations.find(({ _id }) => _id === cid)?.unread_messages_count;
}

const isRead = (event: Event) => event.message_read !== undefined;

describe("PUT /admin/message/read", () => {
  test("answers exactly {success:true}; each author hears once what was read, on every connection, nobody else anything", async () => {
    const { org, cid } = await setUp();
    const [first = "", second = ""] = await sendMany(org, "alice", cid, 2);
    const [third = ""] = await sendMany(org, "carol", cid, 1);
    await sendMany(org, "bob", cid, 1);
    using socket = await org.socket("alice");
    using stream = await org.sse("alice");
    using carol = await org.socket("carol");
    using bob = await org.socket("bob");
    const answer = await org.read("bob", cid);
    expect([answer.status, answer.text]).toEqual([200, '{"success":true}']);
    const of = { cid, from: "bob", t: expect.any(Number) };
    for (const listener of [socket, stream])
      expect(await listener.next()).toEqual({ message_read: { ids: [first, second], ...of } });
    expect(await carol.next()).toEqual({ message_read: { ids: [third], ...of } });
    expect(stream.raw.at(-1)).toMatchObject({ event: "message_read", id: undefined });
    const t = socket.events.find(isRead)?.message_read?.t ?? 0;
    expect(Math.abs(t - Date.now() / 1000)).toBeLessThan(60);
    await org.expectNothingElse(socket, stream, carol, bob);
  });

  test("moves to the newest of the ids, forward only; a call that reads nothing new is heard by nobody", async () => {
    const { org, cid } = await setUp();
    const ids = await sendMany(org, "alice", cid, 4);
    using alice = await org.socket("alice");
    using bob = await org.socket("bob");
    expect(await unreadOf(bob, cid)).toBe(4);
    await org.hasRead("bob", cid, [ids[2] ?? "", ids[1] ?? ""]);
    expect((await alice.next()).message_read?.ids).toEqual(ids.slice(0, 3));
    expect(await unreadOf(bob, cid)).toBe(1);
    await org.hasRead("bob", cid, [ids[0] ?? ""]);
    await org.hasRead("bob", cid, ids.slice(0, 3));
    expect(await unreadOf(bob, cid)).toBe(1);
    await org.hasRead("bob", cid);
    expect((await alice.next()).message_read?.ids).toEqual(ids.slice(3));
    await org.hasRead("bob", cid);
    await org.hasRead("alice", cid);
    expect(await unreadOf(bob, cid)).toBe(0);
    await org.expectNothingElse(alice, bob);
  });

  test("stands in the organization's order: nobody hears of a read before the message", async () => {
    const { org, cid } = await setUp();
    using alice = await org.socket("alice");
    const read: Promise<void>[] = [];
    for (let round = 0; round < 20; round++) {
      const [id = ""] = await sendMany(org, "alice", cid, 1);
      read.push(org.hasRead("bob", cid, [id]));
    }
    await Promise.all(read);
    const seen = new Set<string>();
    for (let named = 0; named < 20; ) {
      const { message, message_read } = await alice.next();
      if (message !== undefined) seen.add(message._id);
      for (const id of message_read?.ids ?? []) {
        expect(seen.has(id)).toBe(true);
        named++;
      }
    }
    await org.expectNothingElse(alice);
  });

  test("many at once, on all nodes, move the mark forward only, and name each message once", async () => {
    const { org, cid } = await setUp();
    const ids = await sendMany(org, "alice", cid, 30);
    using alice = await org.socket("alice");
    using bob = await org.socket("bob");
    const calls = ids.toReversed().flatMap((id) => [org.hasRead("bob", cid, [id]), org.hasRead("carol", cid, [id])]);
    await Promise.all([...calls, org.hasRead("bob", cid)]);
    const namedFor: Record<string, string[]> = { bob: [], carol: [] };
    while (Object.values(namedFor).some((named) => named.length < ids.length)) {
      const { message_read: read } = await alice.next();
      namedFor[read?.from ?? ""]?.push(...(read?.ids ?? []));
    }
    expect(namedFor).toEqual({ bob: ids, carol: ids });
    expect(await unreadOf(bob, cid)).toBe(0);
    await org.expectNothingElse(alice);
  });

  test("names the newest hundred of more, and all are read; a conversation counts 100 unread at most", async () => {
    const { org, cid } = await setUp();
    const ids = await sendMany(org, "alice", cid, 120);
    using alice = await org.socket("alice");
    using bob = await org.socket("bob");
    expect(await unreadOf(bob, cid)).toBe(100);
    await org.hasRead("bob", cid);
    expect((await alice.next()).message_read?.ids).toEqual(ids.slice(-100));
    expect(await unreadOf(bob, cid)).toBe(0);
    await org.expectNothingElse(alice);
  });

  test("does not concern messages from before the reader joined, and authors who left hear nothing", async () => {
    const { org, cid } = await setUp();
    await sendMany(org, "alice", cid, 2);
    await org.join(cid, "dave");
    const [later = ""] = await sendMany(org, "alice", cid, 1);
    await sendMany(org, "carol", cid, 1);
    using alice = await org.socket("alice");
    using carol = await org.socket("carol");
    using dave = await org.socket("dave");
    expect(await unreadOf(dave, cid)).toBe(2);
    await org.leave(cid, "carol");
    await org.hasRead("dave", cid);
    expect((await alice.next()).message_read?.ids).toEqual([later]);
    await org.expectNothingElse(alice, carol);
  });

  test("is never replayed, nor counted in a delivery report; a client that joins meanwhile hears it once", async () => {
    const { org, cid } = await setUp(["alice", "bob"]);
    const [first = "", second = ""] = await sendMany(org, "alice", cid, 2);
    await org.hasRead("bob", cid, [first]);
    const { socket, response } = await org.connect("alice", { since: first });
    using alice = socket;
    expect(response.recovered).toBe(true);
    expect((await alice.next()).message?._id).toBe(second);
    const joining = Array.from({ length: 10 }, () => org.socket("alice"));
    await org.hasRead("bob", cid);
    expect((await alice.next()).message_read?.ids).toEqual([second]);
    const others = await Promise.all(joining);
    const again = await sendMany(org, "alice", cid, 1);
    for (const other of others) {
      const heard: Event[] = [];
      while (heard.at(-1)?.message === undefined) heard.push(await other.next());
      expect(heard.filter(isRead).length).toBeLessThanOrEqual(1);
      expect(heard.at(-1)?.message?._id).toBe(again[0] ?? "");
      other.terminate();
    }
    const report = await eventually(async () => {
      const { body } = await herald().admin<MessageReport>("GET", org.path("messages", second));
      return body.delivery.delivered_connections > 0 ? body.delivery : undefined;
    }, "the delivery of the replay");
    expect(report).toMatchObject({ delivered_users: 1, delivered_connections: 1, acknowledged_users: 0 });
  });

  test("is shown by feeds, by kind, conversation, reader and author", async () => {
    const { org, cid } = await setUp();
    const elsewhere = await org.conversation(["alice", "bob"]);
    await sendMany(org, "alice", cid, 1);
    await sendMany(org, "bob", elsewhere, 1);
    const filters: [FeedQuery, number[]][] = [
      [{}, [1, 2]],
      [{ kind: "message_read" }, [1, 2]],
      [{ kind: "message" }, []],
      [{ kind: "system_message" }, []],
      [{ cid }, [1]],
      [{ cid: elsewhere, kind: "message_read" }, [2]],
      [{ uid: "alice" }, [1, 2]],
      [{ uid: "bob" }, [1, 2]],
      [{ uid: "carol" }, []],
      [{ uid: "bob", cid }, [1]],
    ];
    const feeds = await Promise.all(filters.map(([query]) => openFeed(herald().url, org.id, herald().key, query)));
    using alice = await org.socket("alice");
    await org.hasRead("bob", cid);
    await org.hasRead("alice", elsewhere);
    await alice.next(isRead);
    await org.sentSystem("alice", { id: "mark", uids: ["alice", "bob", "carol"] });
    await org.sent("alice", { cid, body: "mark" });
    await org.sent("alice", { cid: elsewhere, body: "mark" });
    for (const [index, [query, expected]] of filters.entries()) {
      const feed = feeds[index];
      if (feed === undefined) throw new Error("a feed for each filter");
      if (query.kind !== "message_read") await feed.next((event) => !isRead(event));
      else while (feed.events.length < expected.length) await feed.next();
      const shown = feed.events.filter(isRead).map(({ message_read }): number => (message_read?.cid === cid ? 1 : 2));
      expect({ query, shown }).toEqual({ query, shown: expected });
      for (const { event, id } of feed.raw.filter((one) => one.event === "message_read"))
        expect([event, id]).toEqual(["message_read", expect.stringMatching(/^\d+-/)]);
      feed.close();
    }
  });

  test("leaves out what was taken back: it is neither unread nor told, and cannot be named", async () => {
    const { org, cid } = await setUp();
    const ids = await sendMany(org, "alice", cid, 3);
    const [first = "", second = "", third = ""] = ids;
    await org.recalled("alice", cid, second);
    using alice = await org.socket("alice");
    using bob = await org.socket("bob");
    expect(await unreadOf(bob, cid)).toBe(2);
    expectProblem(await org.read<unknown>("bob", cid, [first, second]), 404, "message_not_found");
    await org.hasRead("bob", cid);
    expect((await alice.next()).message_read?.ids).toEqual([first, third]);
    expect(await unreadOf(bob, cid)).toBe(0);
    await org.expectNothingElse(alice, bob);
  });

  test("counts no imported message as unread", async () => {
    const { org, cid } = await setUp(["alice", "bob"]);
    const line = { id: "old", cid, senderId: "alice", body: "x", created_at: "2024-01-01T00:00:00Z" };
    const body = `${JSON.stringify({ message: line })}\n`;
    const headers = { "Admin-Api-Key": herald().key, "Content-Type": "application/x-ndjson" };
    expect((await herald().http<unknown>("POST", org.path("import"), { body, headers })).text).toContain('"done":true');
    using bob = await org.socket("bob");
    expect(await unreadOf(bob, cid)).toBe(0);
    using alice = await org.socket("alice");
    await org.hasRead("bob", cid, [(await org.history(cid))[0]?._id ?? ""]);
    await org.expectNothingElse(alice);
  });

  test("with dry_run=true says how many authors would hear it, and changes nothing", async () => {
    const { org, cid } = await setUp();
    await sendMany(org, "alice", cid, 2);
    await sendMany(org, "carol", cid, 1);
    using alice = await org.socket("alice");
    const body = { organizationId: org.id, senderId: "bob", messageRead: { cid } };
    const tried = await herald().admin<DryRun>("PUT", "/admin/message/read?dry_run=true", body);
    expect([tried.status, tried.body]).toEqual([200, { dry_run: { recipients: 2, online: 1, unknown_users: [] } }]);
    expectProblem(await put({ ...body, senderId: "dave" }, "?dry_run=true"), 403, "sender_not_participant");
    await org.expectNothingElse(alice);
    using bob = await org.socket("bob");
    expect(await unreadOf(bob, cid)).toBe(3);
  });
});

describe("PUT /admin/message/read refuses", () => {
  test("what does not exist, and then nothing is read", async () => {
    const { org, cid } = await setUp();
    const elsewhere = await org.conversation(["alice", "bob"]);
    const [id = ""] = await sendMany(org, "alice", cid, 1);
    const [other = ""] = await sendMany(org, "alice", elsewhere, 1);
    using alice = await org.socket("alice");
    const of = { organizationId: org.id, senderId: "bob", messageRead: { cid } };
    expectProblem(await put({ ...of, organizationId: "nowhere" }), 404, "organization_not_found");
    expectProblem(await put({ ...of, messageRead: { cid: "nowhere" } }), 404, "conversation_not_found");
    expectProblem(await put({ ...of, senderId: "dave" }), 403, "sender_not_participant");
    for (const ids of [[Bun.randomUUIDv7()], [id, "unknown"], [other], [id, other]])
      expectProblem(await put({ ...of, messageRead: { cid, ids } }), 404, "message_not_found");
    await org.expectNothingElse(alice);
    using bob = await org.socket("bob");
    expect(await unreadOf(bob, cid)).toBe(1);
  });

  test("a body that is not one, with a pointer to each fault", async () => {
    const { org, cid } = await setUp();
    const of = { organizationId: org.id, senderId: "bob" };
    const faults: [unknown, string][] = [
      [{}, "/messageRead"],
      [{ ...of, messageRead: {} }, "/messageRead/cid"],
      [{ ...of, messageRead: { cid, ids: [] } }, "/messageRead/ids"],
      [{ ...of, messageRead: { cid, ids: Array.from({ length: 101 }, String) } }, "/messageRead/ids"],
      [{ ...of, messageRead: { cid, ids: [""] } }, "/messageRead/ids/0"],
      [{ ...of, messageRead: { cid, ids: "all" } }, "/messageRead/ids"],
      [{ ...of, messageRead: { cid, upTo: 3 } }, "/messageRead/upTo"],
    ];
    for (const [body, pointer] of faults) expectProblem(await put(body), 422, "invalid_request", pointer);
    const many = await put({ ...of, messageRead: { cid, ids: Array.from({ length: 100 }, String) } });
    expectProblem(many, 404, "message_not_found");
  });

  test("keys without the scope, for other organizations, or for other senders", async () => {
    const { org, cid } = await setUp();
    const body = { organizationId: org.id, senderId: "bob", messageRead: { cid } };
    const keys: [Record<string, unknown>, string][] = [
      [{ scopes: ["system:send", "history:read"] }, "insufficient_scope"],
      [{ organization: (await createOrganization(herald())).id }, "organization_forbidden"],
      [{ allowed_senders: ["alice"] }, "sender_forbidden"],
    ];
    for (const [request, code] of keys) {
      const { key } = await createKey(herald(), request);
      expectProblem(await callWith(herald(), key, "PUT", "/admin/message/read", body), 403, code);
    }
    const { key } = await createKey(herald(), { scopes: ["message:send"], allowed_senders: ["bob"] });
    expect((await callWith<unknown>(herald(), key, "PUT", "/admin/message/read", body)).status).toBe(200);
  });
});

describe("the limits of an organization", () => {
  test("apply to reads as to sends; a call that reads nothing new is free", async () => {
    const readers = Array.from({ length: 500 }, (_, index) => `reader ${index}`);
    const { org, cid } = await setUp(["alice", ...readers]);
    await sendMany(org, "alice", cid, 1);
    await herald().admin("PUT", org.path(), { limits: { stored_bytes: 1 } });
    const full = await eventually(async () => {
      const answer = await org.read<unknown>(readers.pop() ?? "", cid);
      return answer.status === 200 ? undefined : answer;
    }, "the limit to apply");
    expectProblem(full, 422, "invalid_request");
    expect((await org.read("alice", cid)).status).toBe(200);
  });
});
