import { describe, expect, test } from "bun:test";
import type { Socket } from "../../harness/clients/socket.ts";
import type { Conversation, Message, ShownMessage } from "../../harness/clients/wire.ts";
import { expectMessageShape, ISO_MILLISECONDS } from "../../harness/reading/expectations.ts";
import { useHerald } from "../../harness/servers/herald.ts";
import { createOrganization, type Organization } from "../../harness/servers/organization.ts";

const herald = useHerald({ env: { HERALD_LIMIT_REQUESTS_PER_CONNECTION: "0" } });

async function readConversations(socket: Socket, limit: number): Promise<Conversation[]> {
  const all: Conversation[] = [];
  let cursor: string | null | undefined;
  do {
    const response = await socket.request("conversation_list", cursor === undefined ? { limit } : { limit, cursor });
    expect(response.error).toBeUndefined();
    expect(response.conversations?.length ?? 0).toBeLessThanOrEqual(limit);
    all.push(...(response.conversations ?? []));
    cursor = response.cursor;
  } while (cursor !== undefined && cursor !== null);
  return all;
}

describe("conversation_list", () => {
  test("gives the user's conversations with _id, name, type, times and the number of unread messages", async () => {
    const org = await createOrganization(herald());
    const cid = await org.conversation(["alice", "bob"]);
    await herald().admin("PUT", org.path("conversations", cid), { name: "General" });
    const unnamed = await org.conversation(["alice"]);
    await org.conversation(["bob"]);
    using alice = await org.socket("alice");
    const { conversations = [] } = await alice.request("conversation_list");
    expect(conversations.map((item) => item._id).sort()).toEqual([cid, unnamed].sort());
    for (const item of conversations) {
      expect(Object.keys(item).sort()).toEqual([
        "_id",
        "created_at",
        "last_message",
        "name",
        "type",
        "unread_messages_count",
        "updated_at",
      ]);
      expect(item.unread_messages_count).toBe(0);
      expect(item.type).toBeString();
      expect(item.created_at).toMatch(ISO_MILLISECONDS);
      expect(item.updated_at).toMatch(ISO_MILLISECONDS);
    }
    expect(conversations.find((item) => item._id === cid)?.name).toBe("General");
    expect(conversations.find((item) => item._id === unnamed)?.name ?? null).toBeNull();
  });

  test("lists the most recently active first: updated_at is the time of the last message", async () => {
    const org = await createOrganization(herald());
    const rooms = [
      await org.conversation(["alice"]),
      await org.conversation(["alice"]),
      await org.conversation(["alice"]),
    ];
    using alice = await org.socket("alice");
    for (const cid of [rooms[1], rooms[2], rooms[0], rooms[1]]) {
      // Times have milliseconds, so the next message must fall into another one.
      const now = Date.now();
      while (Date.now() <= now + 1) await Bun.sleep(1);
      await org.sent("alice", { cid, body: "x" });
      const message = (await alice.next()).message;
      const { conversations = [] } = await alice.request("conversation_list");
      expect(conversations[0]?._id).toBe(cid ?? "");
      expect(conversations[0]?.updated_at).toBe(message?.created_at ?? "");
    }
    const { conversations = [] } = await alice.request("conversation_list");
    expect(conversations.map((item) => item._id)).toEqual([rooms[1], rooms[0], rooms[2]] as string[]);
  });

  test("gives 50 by default, and pages by cursor to its end", async () => {
    const org = await createOrganization(herald());
    const rooms = await Promise.all(Array.from({ length: 60 }, () => org.conversation(["alice"])));
    for (const cid of rooms.slice(0, 20)) await org.sent("alice", { cid, body: "x" });
    using alice = await org.socket("alice");
    expect((await alice.request("conversation_list")).conversations).toHaveLength(50);
    for (const limit of [1, 7, 60, 100]) {
      const listed = (await readConversations(alice, limit)).map((item) => item._id);
      expect(listed).toHaveLength(60);
      expect(new Set(listed)).toEqual(new Set(rooms));
      expect(listed.slice(0, 20).sort()).toEqual(rooms.slice(0, 20).sort());
    }
  });

  test("is empty for a user in no conversation", async () => {
    const org = await createOrganization(herald());
    using alice = await org.socket("alice");
    expect((await alice.request("conversation_list")).conversations).toEqual([]);
  });
});

describe("message_list", () => {
  async function roomWith(count: number): Promise<{
    org: Organization;
    cid: string;
    ids: string[];
    alice: Socket;
    list: (options?: object) => Promise<ShownMessage[]>;
  }> {
    const org = await createOrganization(herald());
    const cid = await org.conversation(["alice", "bob"]);
    const ids: string[] = [];
    for (let index = 0; index < count; index += 1)
      ids.push((await org.sent("bob", { cid, body: String(index) })).server_mid);
    const alice = await org.socket("alice");
    const list = async (options: object = {}) => {
      const response = await alice.request("message_list", { cid, ...options });
      expect(response.error).toBeUndefined();
      return response.messages ?? [];
    };
    return { org, cid, ids, alice, list };
  }
  const idsOf = (messages: Message[]) => messages.map((message) => message._id);

  test("gives the messages that were delivered, newest first, 50 by default, at most 100", async () => {
    const { ids, list, alice } = await roomWith(105);
    using _ = alice;
    for (const { updated_at, ...message } of await list()) {
      expectMessageShape(message);
      expect(updated_at).toBe(message.created_at);
    }
    const newestFirst = [...ids].reverse();
    expect(idsOf(await list())).toEqual(newestFirst.slice(0, 50));
    expect(idsOf(await list({ limit: 1 }))).toEqual(newestFirst.slice(0, 1));
    expect(idsOf(await list({ limit: 100 }))).toEqual(newestFirst.slice(0, 100));
  });

  test("gives older messages newest first before one, and newer ones oldest first after one", async () => {
    const { ids, list, alice } = await roomWith(10);
    using _ = alice;
    expect(idsOf(await list({ before: ids[5], limit: 3 }))).toEqual([ids[4], ids[3], ids[2]] as string[]);
    expect(idsOf(await list({ after: ids[5], limit: 3 }))).toEqual([ids[6], ids[7], ids[8]] as string[]);
    expect(idsOf(await list({ before: ids[0] }))).toEqual([]);
    expect(idsOf(await list({ after: ids[9] }))).toEqual([]);
  });

  test("pages a whole conversation either way", async () => {
    const { ids, list, alice } = await roomWith(23);
    using _ = alice;
    const backwards: string[] = [];
    for (
      let page = await list({ limit: 5 });
      page.length > 0;
      page = await list({ limit: 5, before: backwards.at(-1) })
    )
      backwards.push(...idsOf(page));
    expect(backwards).toEqual([...ids].reverse());
    const forwards = [ids[0] ?? ""];
    for (
      let page = await list({ limit: 5, after: forwards[0] });
      page.length > 0;
      page = await list({ limit: 5, after: forwards.at(-1) })
    )
      forwards.push(...idsOf(page));
    expect(forwards).toEqual(ids);
  });

  test("gives fewer if messages are long: about half a MiB per page, and at least one message", async () => {
    const { org, cid, list, alice } = await roomWith(0);
    using _ = alice;
    const body = "é".repeat(60_000); // 120 kB
    const ids: string[] = [];
    for (let count = 0; count < 7; count++) ids.push((await org.sent("bob", { cid, body })).server_mid);
    const newestFirst = [...ids].reverse();
    const page = await list({ limit: 100 });
    expect(idsOf(page)).toEqual(newestFirst.slice(0, 5));
    for (const { updated_at: _, ...message } of page) expectMessageShape(message);
    expect(page.every((message) => message.body === body)).toBe(true);
    expect(idsOf(await list({ before: page.at(-1)?._id }))).toEqual(newestFirst.slice(5));
    expect(idsOf(await list({ after: ids[0] }))).toEqual(ids.slice(1, 6));
  });

  test("is for participants: others get 403 not_a_participant, whether the conversation exists or not", async () => {
    const { org, cid, alice } = await roomWith(1);
    using _ = alice;
    using carol = await org.socket("carol");
    const foreign = await carol.request("message_list", { cid });
    expect(foreign.error).toMatchObject({ status: 403, code: "not_a_participant" });
    expect(foreign.messages).toBeUndefined();
    const nowhere = await carol.request("message_list", { cid: "nowhere" });
    expect(nowhere.error?.status).toBe(403);
    await org.leave(cid, "alice");
    expect((await alice.request("message_list", { cid })).error).toMatchObject({
      status: 403,
      code: "not_a_participant",
    });
    expect((await alice.request("conversation_list")).conversations).toEqual([]);
    await org.join(cid, "carol");
    expect((await carol.request("message_list", { cid })).messages).toHaveLength(1);
  });
});
