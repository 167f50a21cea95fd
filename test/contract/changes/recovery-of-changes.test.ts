import { describe, expect, test } from "bun:test";
import { openFeed } from "../../harness/clients/sse.ts";
import type { Event } from "../../harness/clients/wire.ts";
import { useHerald } from "../../harness/servers/herald.ts";
import { createOrganization, type Organization } from "../../harness/servers/organization.ts";

const herald = useHerald({ env: { HERALD_LIMIT_RECOVERY_MESSAGES: "5" } });

async function roomWith(count: number): Promise<{ org: Organization; cid: string; ids: string[] }> {
  const org = await createOrganization(herald());
  const cid = await org.conversation(["alice", "bob"]);
  const ids: string[] = [];
  for (let index = 0; index < count; index++)
    ids.push((await org.sent("alice", { cid, body: `message ${index}` })).server_mid);
  return { org, cid, ids };
}

/** An event in short: its kind, what it is about, and what it says. */
function brief({
  message,
  message_edit: edit,
  message_delete: recall,
  message_reactions_update: update,
}: Event): unknown[] {
  if (update !== undefined) return ["reaction", update.mid, update.from, update.add, update.remove];
  if (message !== undefined) return ["message", message._id, message.body];
  if (edit !== undefined) return ["edit", edit.id, edit.body];
  return ["recall", recall?.ids];
}

/** What a socket and a stream recover, which must be the same, and then nothing else. */
async function expectRecovered(org: Organization, since: string, expected: unknown[][]): Promise<void> {
  const { socket, response } = await org.connect("bob", { since });
  using stream = await org.sse("bob", { lastEventId: since });
  expect([response.recovered, stream.headers.get("herald-recovered")]).toEqual([true, "true"]);
  for (const listener of [socket, stream]) {
    const heard: unknown[][] = [];
    while (heard.length < expected.length) heard.push(brief(await listener.next()));
    expect(heard).toEqual(expected);
  }
  await org.expectNothingElse(socket, stream);
  socket.close();
}

describe("since and Last-Event-ID, over edits and recalls", () => {
  test("bring an edit and a recall of messages that were heard before", async () => {
    const { org, cid, ids } = await roomWith(3);
    const [first = "", second = "", third = ""] = ids;
    await org.edited("alice", { id: first, body: "edited" });
    await org.recalled("bob", cid, second);
    await expectRecovered(org, third, [
      ["edit", first, "edited"],
      ["recall", [second]],
    ]);
  });

  test("bring reactions to messages that were heard before, in their order", async () => {
    const { org, ids } = await roomWith(2);
    const [first = "", second = ""] = ids;
    await org.reacted("alice", first, { add: "👍" });
    await org.reacted("bob", second, { add: "🎉" });
    await org.reacted("alice", first, { add: "❤️", remove: "👍" });
    await expectRecovered(org, second, [
      ["reaction", first, "alice", "👍", undefined],
      ["reaction", second, "bob", "🎉", undefined],
      ["reaction", first, "alice", "❤️", "👍"],
    ]);
  });

  test("bring a message that was edited as it is now, and the edit after it", async () => {
    const { org, ids } = await roomWith(2);
    const [first = "", second = ""] = ids;
    await org.edited("alice", { id: second, body: "edited once" });
    await org.edited("alice", { id: second, body: "edited twice" });
    await expectRecovered(org, first, [
      ["message", second, "edited twice"],
      ["edit", second, "edited twice"],
    ]);
  });

  test("leave out a message that was taken back, with its edits, and bring the recall", async () => {
    const { org, cid, ids } = await roomWith(3);
    const [first = "", second = "", third = ""] = ids;
    await org.edited("alice", { id: second, body: "edited" });
    await org.recalled("alice", cid, second);
    await expectRecovered(org, first, [
      ["message", third, "message 2"],
      ["recall", [second]],
    ]);
  });

  test("resume after a message that was taken back", async () => {
    const { org, cid, ids } = await roomWith(2);
    const [first = "", second = ""] = ids;
    await org.recalled("alice", cid, first);
    await expectRecovered(org, first, [
      ["message", second, "message 1"],
      ["recall", [first]],
    ]);
  });

  test("count edits and recalls towards the limit, and nothing that is gone", async () => {
    const { org, cid, ids } = await roomWith(3);
    const [first = "", second = "", third = ""] = ids;
    for (const body of ["1", "2", "3", "4", "5", "6"]) await org.edited("alice", { id: first, body });
    await org.recalled("alice", cid, third);
    await org.recalled("alice", cid, second);
    await expectRecovered(org, first, [
      ["edit", first, "6"],
      ["recall", [third]],
      ["recall", [second]],
    ]);
    for (const body of ["x", "y", "z"]) await org.sent("alice", { cid, body });
    const { socket, response } = await org.connect("bob", { since: first });
    expect(response.recovered).toBe(false);
    await org.expectNothingElse(socket);
    socket.close();
  });

  test("bring nothing of a conversation that the user has left", async () => {
    const { org, cid, ids } = await roomWith(1);
    const elsewhere = await org.conversation(["alice", "bob"]);
    const { server_mid: since } = await org.sent("alice", { cid: elsewhere, body: "since" });
    await org.leave(cid, "bob");
    await org.edited("alice", { id: ids[0], body: "edited" });
    await expectRecovered(org, since, []);
  });
});

describe("a live feed", () => {
  test("shows edits and recalls, by kind, by conversation and by user", async () => {
    const { org, cid, ids } = await roomWith(2);
    const [first = "", second = ""] = ids;
    const open = (query: object) => openFeed(herald().url, org.id, herald().key, { ...query });
    using all = await open({});
    using edits = await open({ kind: "message_edit" });
    using recalls = await open({ kind: "message_delete", cid });
    using bobs = await open({ uid: "bob" });
    using carols = await open({ uid: "carol" });
    await org.edited("alice", { id: first, body: "edited" });
    await org.recalled("alice", cid, second);
    const { server_mid: last } = await org.sent("alice", { cid, body: "last" });
    await org.sentSystem("alice", { id: "s", uids: ["carol"] });
    const edit = ["edit", first, "edited"];
    const recall = ["recall", [second]];
    for (const feed of [all, bobs]) {
      expect(brief(await feed.next())).toEqual(edit);
      expect(brief(await feed.next())).toEqual(recall);
      expect(brief(await feed.next())).toEqual(["message", last, "last"]);
    }
    expect(brief(await edits.next())).toEqual(edit);
    expect(brief(await recalls.next())).toEqual(recall);
    expect((await carols.next()).system_message?._id).toBe("s");
    expect(edits.waiting).toEqual([]);
    expect(all.raw[0]).toMatchObject({ event: "message_edit", id: expect.stringMatching(/^\d+-/) });
  });
});
