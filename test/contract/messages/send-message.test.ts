import { describe, expect, test } from "bun:test";
import type { Ask } from "../../harness/clients/wire.ts";
import { uniqueId } from "../../harness/random.ts";
import { messageOf, UUID_V7 } from "../../harness/reading/expectations.ts";
import { filesOf } from "../../harness/servers/files.ts";
import { useHerald } from "../../harness/servers/herald.ts";
import { createOrganization } from "../../harness/servers/organization.ts";

const herald = useHerald();

describe("POST /admin/message", () => {
  test("answers 201 with exactly {ask:{mid,server_mid,t}} as JSON", async () => {
    const org = await createOrganization(herald());
    const cid = await org.conversation(["alice"]);
    const before = Math.floor(Date.now() / 1000);
    const answer = await org.send("alice", { id: "m-1", cid, body: "hello" });
    expect(answer.status).toBe(201);
    expect(answer.headers.get("content-type")).toMatch(/^application\/json\b/);
    expect(answer.headers.has("idempotent-replayed")).toBe(false);
    expect(Object.keys(answer.body)).toEqual(["ask"]);
    expect(Object.keys(answer.body.ask).sort()).toEqual(["mid", "server_mid", "t"]);
    expect(answer.body.ask.mid).toBe("m-1");
    expect(answer.body.ask.server_mid).toMatch(UUID_V7);
    expect(answer.body.ask.t).toBeInteger();
    expect(answer.body.ask.t).toBeGreaterThanOrEqual(before - 1);
    expect(answer.body.ask.t).toBeLessThanOrEqual(Date.now() / 1000 + 1);
  });

  test("assigns an id if none is given, and returns it as mid, equal to server_mid", async () => {
    const org = await createOrganization(herald());
    const cid = await org.conversation(["alice"]);
    const first = await org.sent("alice", { cid, body: "same" });
    const second = await org.sent("alice", { cid, body: "same" });
    expect(first.mid).toBe(first.server_mid);
    expect(second.mid).toBe(second.server_mid);
    expect(second.mid).not.toBe(first.mid);
  });

  test("gives every online participant, including the sender, exactly the eight members", async () => {
    const org = await createOrganization(herald());
    const cid = await org.conversation(["alice", "bob", "carol"]);
    using alice = await org.socket("alice");
    using bob = await org.socket("bob");
    using carol = await org.sse("carol");
    const x = { priority: 3, nested: { list: [1, "two", null, true] }, "": "" };
    const ask = await org.sent("alice", {
      id: "m-1",
      cid,
      body: "Grüße 👋",
      x,
      attachments: [{ name: "a.pdf", size: 5, content_type: "application/pdf" }],
    });
    for (const listener of [alice, bob, carol]) {
      const message = messageOf(await listener.next());
      expect(message).toEqual({
        _id: ask.server_mid,
        t: ask.t,
        from: "alice",
        body: "Grüße 👋",
        cid,
        x,
        attachments: [{ file_id: expect.stringMatching(UUID_V7), file_name: "a.pdf" }],
        created_at: expect.any(String),
      });
    }
    expect(bob.events).toEqual(alice.events);
    expect(carol.events).toEqual(alice.events);
    await org.expectNothingElse(alice, bob, carol);
  });

  test("delivers the same bytes to every socket of every participant", async () => {
    const org = await createOrganization(herald());
    const cid = await org.conversation(["alice", "bob"]);
    using alice = await org.socket("alice");
    using bob = await org.socket("bob");
    await org.sent("alice", { cid, body: "one", x: { b: 1, a: 2 } });
    await Promise.all([alice.next(), bob.next()]);
    expect(bob.frames.at(-1)).toBe(alice.frames.at(-1) ?? "");
  });

  test("reaches only participants, not others in the organization or in another with the same names", async () => {
    const org = await createOrganization(herald());
    const other = await createOrganization(herald());
    const cid = await org.conversation(["alice", "bob"]);
    await org.conversation(["alice", "mallory"]);
    await other.conversation(["alice", "bob"], cid);
    using mallory = await org.socket("mallory");
    using foreignBob = await other.socket("bob");
    using bob = await org.socket("bob");
    const ask = await org.sent("alice", { cid, body: "private" });
    expect((await bob.next()).message?._id).toBe(ask.server_mid);
    await org.expectNothingElse(mallory);
    await other.expectNothingElse(foreignBob);
  });

  test("fills in x, attachments and body if they are omitted", async () => {
    const org = await createOrganization(herald());
    const cid = await org.conversation(["alice"]);
    using alice = await org.socket("alice");
    await org.sent("alice", { cid, body: "only text" });
    const plain = messageOf(await alice.next());
    expect(plain.x).toEqual({});
    expect(plain.attachments).toEqual([]);
    await org.sent("alice", { cid, attachments: [{ name: "a", size: 0, content_type: "text/plain" }] });
    const bare = messageOf(await alice.next());
    expect(bare.body).toBe("");
    expect(bare.x).toEqual({});
  });

  test("keeps a file_id from the caller and creates one for each attachment without", async () => {
    const org = await createOrganization(herald());
    const cid = await org.conversation(["alice"]);
    using alice = await org.socket("alice");
    const { file_id: kept } = await filesOf(org).uploaded("uploaded.txt", "text");
    const file = { size: 1, content_type: "text/plain" };
    await org.sent("alice", {
      cid,
      attachments: [
        { name: "one", ...file },
        { name: "two", ...file, file_id: kept },
        { name: "three", ...file },
      ],
    });
    const { attachments } = messageOf(await alice.next());
    expect(attachments.map((attachment) => attachment.file_name)).toEqual(["one", "two", "three"]);
    expect(attachments[1]?.file_id).toBe(kept);
    expect(attachments[0]?.file_id).toMatch(UUID_V7);
    expect(attachments[2]?.file_id).toMatch(UUID_V7);
    expect(attachments[0]?.file_id).not.toBe(attachments[2]?.file_id);
  });

  test("gives t as the floor of created_at, to sockets, streams and in history alike", async () => {
    const org = await createOrganization(herald());
    const cid = await org.conversation(["alice"]);
    using alice = await org.socket("alice");
    for (let index = 0; index < 20; index += 1) {
      const ask = await org.sent("alice", { cid, body: String(index) });
      const message = messageOf(await alice.next());
      expect(message.t).toBe(ask.t);
      expect(Math.floor(Date.parse(message.created_at) / 1000)).toBe(ask.t);
    }
  });

  test("is stored even if nobody is online", async () => {
    const org = await createOrganization(herald());
    const cid = await org.conversation(["alice", "bob"]);
    const ask = await org.sent("alice", { cid, body: "later" });
    expect((await org.history(cid)).map((message) => message._id)).toEqual([ask.server_mid]);
    using bob = await org.socket("bob");
    await org.expectNothingElse(bob);
  });

  test("delivers messages sent one after another in the order of their answers", async () => {
    const org = await createOrganization(herald());
    const cid = await org.conversation(["alice", "bob"]);
    using bob = await org.socket("bob");
    const sent: string[] = [];
    for (let index = 0; index < 50; index += 1)
      sent.push((await org.sent("alice", { cid, body: String(index) })).server_mid);
    const heard: (string | undefined)[] = [];
    while (heard.length < sent.length) heard.push((await bob.next()).message?._id);
    expect(heard).toEqual(sent);
  });

  test("delivers messages sent at once in one order to everyone, across conversations", async () => {
    const org = await createOrganization(herald());
    const rooms = await Promise.all([1, 2, 3].map(() => org.conversation(["alice", "bob", "carol"])));
    using alice = await org.socket("alice");
    using bob = await org.socket("bob");
    using carol = await org.sse("carol");
    const asks = await Promise.all(
      Array.from({ length: 90 }, (_, index) => org.sent("alice", { cid: rooms[index % 3], body: String(index) })),
    );
    await org.sentSystem("alice", { id: uniqueId("end"), uids: ["alice", "bob", "carol"] });
    for (const listener of [alice, bob, carol])
      await listener.next((event) => event.system_message !== undefined, "the last event");
    const orders = [alice, bob, carol].map((listener) => listener.events.map((event) => event.message?._id));
    expect(orders[0]?.filter((id) => id !== undefined).sort()).toEqual(asks.map((ask) => ask.server_mid).sort());
    expect(orders[1]).toEqual(orders[0] ?? []);
    expect(orders[2]).toEqual(orders[0] ?? []);
  });

  test("creates server_mids that are unique under concurrency", async () => {
    const org = await createOrganization(herald());
    const cid = await org.conversation(["alice"]);
    const answers = await Promise.all(Array.from({ length: 300 }, () => org.send<Ask>("alice", { cid, body: "x" })));
    expect(new Set(answers.map((answer) => answer.status))).toEqual(new Set([201]));
    expect(new Set(answers.map((answer) => answer.body.ask.server_mid)).size).toBe(300);
  });
});
