import { describe, expect, test } from "bun:test";
import { sendBatch } from "../../harness/clients/batch.ts";
import { openFeed } from "../../harness/clients/sse.ts";
import { expectProblem } from "../../harness/reading/expectations.ts";
import { useHerald } from "../../harness/servers/herald.ts";
import { createOrganization } from "../../harness/servers/organization.ts";
import { exportOf, importInto, messageLine } from "../transfer/lines.ts";

const herald = useHerald();
const members = ["_id", "t", "from", "body", "cid", "x", "attachments", "created_at"];

async function setUp() {
  const org = await createOrganization(herald());
  const cid = await org.conversation(["alice", "bob"]);
  const { server_mid: first } = await org.sent("alice", { cid, body: "first" });
  return { org, cid, first };
}

describe("a message that names another", () => {
  test("is heard on sockets, streams and the feed, recovered and listed with the ids as last members", async () => {
    const { org, cid, first } = await setUp();
    const other = await org.conversation(["bob", "carol"]);
    const { server_mid: forwarded } = await org.sent("carol", { cid: other, body: "elsewhere" });
    using alice = await org.socket("alice");
    using stream = await org.sse("bob");
    using feed = await openFeed(herald().url, org.id, herald().key);
    const named = { replied_message_id: first, forwarded_message_id: forwarded };
    const { server_mid } = await org.sent("bob", { cid, body: "both", ...named });
    const { socket: late } = await org.connect("alice", { since: first });
    using _ = late;
    for (const listener of [alice, stream, feed, late]) {
      const { message } = await listener.next();
      expect(message).toMatchObject({ _id: server_mid, ...named });
      expect(Object.keys(message ?? {})).toEqual([...members, "replied_message_id", "forwarded_message_id"]);
    }
    const [both, alone] = await org.history(cid);
    expect([both?.replied_message_id, both?.forwarded_message_id]).toEqual([first, forwarded]);
    expect(Object.keys(alone ?? {})).toEqual(members);
    const { conversations = [] } = await late.request("conversation_list");
    expect(conversations[0]?.last_message).toMatchObject(named);
  });

  test("keeps the id when it is edited, and when what it names is taken back", async () => {
    const { org, cid, first } = await setUp();
    const { server_mid: id } = await org.sent("bob", { cid, body: "reply", replied_message_id: first });
    await org.recalled("alice", cid, first);
    await org.edited("bob", { id, body: "edited" });
    expect(await org.history(cid)).toMatchObject([{ _id: id, body: "edited", replied_message_id: first }]);
  });

  test("is a retry only with the same ids, also once what it names is gone", async () => {
    const { org, cid, first } = await setUp();
    const reply = { id: "r", cid, body: "reply", replied_message_id: first };
    const { server_mid } = await org.sent("bob", reply);
    await org.recalled("alice", cid, first);
    const again = await org.send("bob", reply);
    expect([again.status, again.body.ask.server_mid]).toEqual([201, server_mid]);
    expectProblem(await org.send("bob", { id: "r", cid, body: "reply" }), 409, "message_id_conflict");
  });

  test.each(["replied_message_id", "forwarded_message_id"] as const)(
    "is refused if %s names what the sender does not see, also as a dry run, in a batch and scheduled",
    async (member) => {
      const { org, cid, first } = await setUp();
      const foreign = await org.conversation(["alice"]);
      const { server_mid: hidden } = await org.sent("alice", { cid: foreign, body: "not bob's" });
      const other = await setUp();
      const { server_mid: gone } = await org.sent("alice", { cid, body: "gone" });
      await org.recalled("alice", cid, gone);
      const left = await org.conversation(["bob", "carol"]);
      const { server_mid: former } = await org.sent("bob", { cid: left, body: "left since" });
      await org.leave(left, "bob");
      for (const id of [hidden, other.first, gone, former, "none"]) {
        const message = { cid, body: "x", [member]: id };
        expectProblem(await org.send("bob", message), 404, "message_not_found");
        const body = { organizationId: org.id, senderId: "bob", message };
        const tried = await herald().admin("POST", "/admin/message?dry_run=true", body);
        expectProblem(tried, 404, "message_not_found");
        const [line] = (await sendBatch(herald(), [body])).answers;
        expect(line).toMatchObject({ status: 404, problem: { code: "message_not_found" } });
        const request = { send_at: new Date(Date.now() + 3_600_000).toISOString(), request: body };
        expectProblem(await herald().admin("PUT", org.path("scheduled", "later"), request), 404, "message_not_found");
      }
      expectProblem(await org.send("bob", { cid, body: "x", [member]: "" }), 422, "invalid_request");
      expect((await org.history(cid)).map(({ _id }) => _id)).toEqual([first]);
    },
  );

  test("may not name a message that has expired", async () => {
    const { org, cid } = await setUp();
    const expires_at = new Date(Date.now() + 4_000).toISOString();
    const { server_mid: brief } = await org.sent("alice", { cid, body: "brief", expires_at });
    using bob = await org.socket("bob");
    expect((await bob.next()).message_delete?.ids).toEqual([brief]);
    const message = { cid, body: "late", replied_message_id: brief };
    expectProblem(await org.send("bob", message), 404, "message_not_found");
  });

  test("is exported and imported with the ids, whether or not there is such a message", async () => {
    const { org, cid, first } = await setUp();
    await org.sent("bob", { cid, body: "reply", replied_message_id: first });
    const copy = await createOrganization(herald());
    expect((await importInto(copy, await exportOf(org))).end).toMatchObject({ done: true, failed: 0 });
    expect((await copy.history(cid)).map((message) => message.replied_message_id)).toEqual([first, undefined]);
    await org.conversation(["alice"], "room");
    const lines = [messageLine("old", 1, { forwarded_message_id: "unknown" })];
    expect((await importInto(org, lines)).end).toMatchObject({ done: true, failed: 0 });
    expect((await importInto(org, lines)).end).toMatchObject({ done: true, failed: 0 });
    const [line] = (await exportOf(org)).filter(({ message }) => (message as { id?: string })?.id === "old");
    expect(line?.message).toMatchObject({ forwarded_message_id: "unknown" });
  });
});
