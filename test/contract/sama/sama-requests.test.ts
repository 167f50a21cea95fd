import { describe, expect, test } from "bun:test";
import { unsupportedRequests } from "../../../src/contract/connections/unsupported.ts";
import { openSamaClient } from "../../harness/clients/sama-client.ts";
import { openSocket } from "../../harness/clients/socket.ts";
import { ISO_MILLISECONDS } from "../../harness/reading/expectations.ts";
import { useHerald } from "../../harness/servers/herald.ts";
import { createOrganization } from "../../harness/servers/organization.ts";

const herald = useHerald({ env: { HERALD_LIMIT_REQUESTS_PER_CONNECTION: "0", HERALD_LIMIT_USER_REQUESTS: "0" } });

const notParticipant = { status: 403, code: "not_a_participant" };

describe("a SAMA client", () => {
  test("connects with the device it has: a text, a number, or none yet", async () => {
    const org = await createOrganization(herald());
    for (const [uid, device] of Object.entries({ alice: "7e1d", bob: 3_414_861_734, carol: null })) {
      using _client = await openSamaClient(org, uid, device);
      const { body } = await herald().admin<{ items: unknown[] }>(
        "GET",
        `${org.path("online")}?uids=${uid}&devices=true`,
      );
      expect(body.items).toEqual([{ id: uid, connections: 1, devices: [device === null ? null : String(device)] }]);
    }
  });

  test("logs out with success, and the socket is closed with 1000", async () => {
    const org = await createOrganization(herald());
    using client = await openSamaClient(org, "alice");
    expect(await client.request("user_logout", {}, "success")).toBe(true);
    expect(await client.socket.closed).toEqual({ code: 1000, reason: "the client sent `user_logout`" });
  });
});

describe("message_read", () => {
  test("answers success, and each author hears what was read; again it changes nothing", async () => {
    const org = await createOrganization(herald());
    const cid = await org.conversation(["alice", "bob"]);
    const first = await org.sent("alice", { cid, body: "1" });
    const second = await org.sent("alice", { cid, body: "2" });
    using alice = await org.socket("alice");
    using bob = await openSamaClient(org, "bob");
    const unread = async () => (await bob.request("conversation_list", {}, "conversations"))[0]?.unread_messages_count;
    expect(await unread()).toBe(2);
    expect(await bob.request("message_read", { cid, ids: [first.server_mid] }, "success")).toBe(true);
    const event = { cid, from: "bob", t: expect.any(Number) };
    expect((await alice.next()).message_read).toEqual({ ...event, ids: [first.server_mid] });
    expect(await unread()).toBe(1);
    expect(await bob.request("message_read", { cid }, "success")).toBe(true);
    expect((await alice.next()).message_read).toEqual({ ...event, ids: [second.server_mid] });
    expect(await unread()).toBe(0);
    await bob.request("message_read", { cid }, "success");
    await org.expectNothingElse(alice, bob.socket);
  });

  test("is refused alike for a conversation of others and for none, and for a message of another conversation", async () => {
    const org = await createOrganization(herald());
    const own = await org.conversation(["alice"]);
    const theirs = await org.conversation(["bob"]);
    const { server_mid } = await org.sent("bob", { cid: theirs, body: "x" });
    using alice = await openSamaClient(org, "alice");
    for (const data of [{ cid: theirs }, { cid: theirs, ids: [server_mid] }, { cid: "nowhere" }])
      expect(alice.request("message_read", data, "success")).rejects.toMatchObject(notParticipant);
    const missing = { status: 404, code: "message_not_found" };
    expect(alice.request("message_read", { cid: own, ids: [server_mid] }, "success")).rejects.toMatchObject(missing);
    for (const data of [{}, { cid: own, ids: [] }, { cid: own, ids: Array(101).fill("m") }, { cid: own, id: "m" }])
      expect(alice.request("message_read", data, "success")).rejects.toMatchObject({ status: 422 });
    await alice.request("message_read", { cid: own }, "success");
  });
});

describe("get_users_by_ids", () => {
  test("tells about the user and those who share a conversation with the user, and nothing about others", async () => {
    const org = await createOrganization(herald());
    await org.conversation(["alice", "bob"]);
    const left = await org.conversation(["alice", "carol"]);
    await org.conversation(["dave"]);
    await herald().admin("PUT", org.path("users", "bob"), { name: "Bob" });
    await org.leave(left, "carol");
    using alice = await openSamaClient(org, "alice");
    const ids = ["dave", "bob", "carol", "nobody", "bob", "alice"];
    const users = await alice.request("get_users_by_ids", { ids }, "users");
    expect(users).toEqual([
      { _id: "alice", login: "alice", created_at: expect.stringMatching(ISO_MILLISECONDS) },
      { _id: "bob", login: "Bob", created_at: expect.stringMatching(ISO_MILLISECONDS) },
    ]);
    expect(await alice.request("get_users_by_ids", { ids: ["dave", "nobody"] }, "users")).toEqual([]);
  });

  test("takes a hundred ids, and no more", async () => {
    const org = await createOrganization(herald());
    const ids = Array.from({ length: 101 }, (_, index) => `u${String(index).padStart(3, "0")}`);
    await org.conversation(ids);
    using first = await openSamaClient(org, "u000");
    const users = await first.request("get_users_by_ids", { ids: ids.slice(1) }, "users");
    expect(users.map(({ _id }) => _id)).toEqual(ids.slice(1));
    expect(first.request("get_users_by_ids", { ids }, "users")).rejects.toMatchObject({ status: 422 });
  });
});

describe("get_participants_by_cids", () => {
  test("lists the participants of the user's conversations, and leaves out conversations of others", async () => {
    const org = await createOrganization(herald());
    const pair = await org.conversation(["alice", "bob"]);
    const group = await org.conversation(["alice", "bob", "carol"]);
    const theirs = await org.conversation(["dave"]);
    using alice = await org.socket("alice");
    const answer: unknown = await alice.request("get_participants_by_cids", { cids: [pair, theirs, group, "none"] }, 1);
    const user = (_id: string) => ({ _id, login: _id, created_at: expect.stringMatching(ISO_MILLISECONDS) });
    expect(answer).toEqual({
      id: 1,
      users: ["alice", "bob", "carol"].map(user),
      conversations: { [pair]: ["alice", "bob"], [group]: ["alice", "bob", "carol"] },
    });
    const nothing: unknown = await alice.request("get_participants_by_cids", { cids: [theirs] }, 2);
    expect(nothing).toEqual({ id: 2, users: [], conversations: {} });
  });

  test("lists the first thousand of each conversation, and five thousand together", async () => {
    const org = await createOrganization(herald());
    const uids = ["alice", ...Array.from({ length: 1_100 }, (_, index) => `u${index}`)];
    const cids: string[] = [];
    for (let made = 0; made < 6; made++) cids.push(await org.conversation(uids, `c${made}`));
    using alice = await org.socket("alice");
    const answer: { conversations?: unknown } = await alice.request("get_participants_by_cids", { cids });
    const counts = Object.values(Object(answer.conversations)).map((list) => Object(list).length);
    expect(counts).toEqual([1_000, 1_000, 1_000, 1_000, 1_000, 0]);
  });
});

describe("what Herald does not do over a socket", () => {
  test("is answered with 501 and what does it, before connect, too", async () => {
    const org = await createOrganization(herald());
    using alice = await org.socket("alice");
    using stranger = await openSocket(herald().url);
    for (const [operation, instead] of Object.entries(unsupportedRequests)) {
      const { error } = await alice.request(operation, { cid: "c", id: "i" });
      expect(error).toEqual({
        status: 501,
        code: "not_supported",
        message: `${operation} is not supported: ${instead}`,
      });
    }
    expect((await stranger.request("user_login", { login: "a", password: "b" })).error?.status).toBe(501);
    await org.expectNothingElse(alice);
  });

  test("includes a message frame, whose id the answer has, and sends nothing", async () => {
    const org = await createOrganization(herald());
    const cid = await org.conversation(["alice"]);
    using alice = await org.socket("alice");
    alice.send({ message: { id: "m1", cid, body: "hi" } });
    const { id, error } = await alice.responses.next();
    expect([id, error?.status, error?.code]).toEqual(["m1", 501, "not_supported"]);
    expect(error?.message).toContain("POST /admin/message");
    for (const frame of [{ system_message: { x: {} } }, { message: null }, { read: { mid: 1 } }]) {
      alice.send(frame);
      expect(await alice.responses.next()).toEqual({
        error: { status: 501, code: "not_supported", message: expect.any(String) },
      });
    }
    expect(await org.history(cid)).toEqual([]);
    await org.expectNothingElse(alice);
  });
});
