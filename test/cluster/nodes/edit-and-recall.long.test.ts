import { afterAll, expect, setDefaultTimeout, test } from "bun:test";
import { startCluster } from "../../harness/servers/cluster.ts";
import { createOrganization } from "../../harness/servers/organization.ts";

setDefaultTimeout(120_000);

const cluster = await startCluster({ nodes: 2 });
if (cluster !== undefined) {
  afterAll(() => cluster[Symbol.asyncDispose]());
  const [first, second] = [cluster.node(0), cluster.node(1)];

  test("an edit and a recall at once on two nodes happen in one order, which everyone hears on both", async () => {
    const org = await createOrganization(first.herald);
    const there = await createOrganization(second.herald, org.id);
    const cid = await org.conversation(["alice", "bob"]);
    using near = await org.socket("bob");
    using far = await there.socket("alice");
    const seen = { both: 0, recallOnly: 0 };
    for (let round = 0; round < 30; round++) {
      const { server_mid: id } = await org.sent("alice", { cid, body: `message ${round}` });
      for (const listener of [near, far]) expect((await listener.next()).message?._id).toBe(id);
      const [edit, recall] = await Promise.all([
        org.edit("alice", { id, body: `edited ${round}` }),
        there.recall("bob", { cid, ids: [id], type: "all" }),
      ]);
      expect(recall.status).toBe(200);
      expect([200, 404]).toContain(edit.status);
      for (const listener of [near, far]) {
        const heard = await listener.next();
        const isEdited = heard.message_edit !== undefined;
        if (isEdited) expect((await listener.next()).message_delete?.ids).toEqual([id]);
        else expect(heard.message_delete?.ids).toEqual([id]);
        // A node that reads the log only after the recall finds no edit any more, so hearing one is not required.
        if (isEdited) expect(edit.status).toBe(200);
      }
      seen[edit.status === 200 ? "both" : "recallOnly"]++;
      expect(await org.history(cid)).toEqual([]);
    }
    expect(seen.both + seen.recallOnly).toBe(30);
    await org.expectNothingElse(near, far);
  });

  test("a recall on one node reaches joins on another, which has the message in its memory", async () => {
    const org = await createOrganization(first.herald);
    const there = await createOrganization(second.herald, org.id);
    const cid = await org.conversation(["alice", "bob"]);
    const { server_mid: since } = await org.sent("alice", { cid, body: "since" });
    using far = await there.socket("alice");
    const { server_mid: id } = await org.sent("alice", { cid, body: "secret" });
    expect((await far.next()).message?._id).toBe(id);
    await org.recalled("bob", cid, id);
    expect((await far.next()).message_delete?.ids).toEqual([id]);
    using late = await there.socket("bob", { since });
    expect((await late.next()).message_delete?.ids).toEqual([id]);
    await there.expectNothingElse(late, far);
  });

  test("an edit and a recall are heard on the other node while the bus is away, as it reads the log", async () => {
    const org = await createOrganization(first.herald);
    const there = await createOrganization(second.herald, org.id);
    const cid = await org.conversation(["alice", "bob"]);
    using far = await there.socket("bob");
    const { server_mid: kept } = await org.sent("alice", { cid, body: "kept" });
    const { server_mid: gone } = await org.sent("alice", { cid, body: "gone" });
    for (const id of [kept, gone]) expect((await far.next()).message?._id).toBe(id);
    await cluster.nats?.outage(async () => {
      await org.edited("alice", { id: kept, body: "edited" });
      const { server_mid: never } = await org.sent("alice", { cid, body: "gone soon" });
      await org.recalled("alice", cid, gone, never);
      const edit = await far.next(undefined, "the edit without the bus", 15_000);
      expect(edit.message_edit).toMatchObject({ id: kept, body: "edited" });
      const heard = await far.next();
      const recall = heard.message?._id === never ? await far.next() : heard; // the node may have looked in between
      expect(recall.message_delete?.ids).toEqual([gone, never]);
    });
    await there.expectNothingElse(far);
  });
}
