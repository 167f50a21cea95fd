import { describe, expect, test } from "bun:test";
import { openSamaClient } from "../../harness/clients/sama-client.ts";
import { useHerald } from "../../harness/servers/herald.ts";
import { createOrganization } from "../../harness/servers/organization.ts";
import { importInto } from "../transfer/lines.ts";

const herald = useHerald();
const list = "message_reactions_list";

describe("message_reactions_list", () => {
  test("names who has reacted in each way, to an imported message, too", async () => {
    const org = await createOrganization(herald());
    const cid = await org.conversation(["alice", "bob"]);
    const { server_mid: mid } = await org.sent("alice", { cid, body: "hello" });
    using bob = await openSamaClient(org, "bob");
    expect(await bob.request(list, { mid }, "reactions")).toEqual({});
    await org.reacted("bob", mid, { add: "👍" });
    await org.reacted("alice", mid, { add: "👍" });
    await org.reacted("alice", mid, { add: "__proto__" });
    const all = JSON.parse('{"👍":["alice","bob"],"__proto__":["alice"]}');
    expect(await bob.request(list, { mid }, "reactions")).toEqual(all);
    await org.reacted("alice", mid, { remove: "👍" });
    const rest = JSON.parse('{"👍":["bob"],"__proto__":["alice"]}');
    expect(await bob.request(list, { mid }, "reactions")).toEqual(rest);

    const of = { cid, senderId: "bob", body: "past", created_at: "2024-01-01T00:00:00Z" };
    await importInto(org, [
      { message: { id: "m-1", ...of } },
      { reaction: { mid: "m-1", senderId: "bob", reaction: "🎉" } },
    ]);
    const [, imported = { _id: "" }] = await org.history(cid);
    expect(await bob.request(list, { mid: imported._id }, "reactions")).toEqual({ "🎉": ["bob"] });
  });

  test("finds only what the user sees", async () => {
    const org = await createOrganization(herald());
    const cid = await org.conversation(["alice", "bob"]);
    const { server_mid: mid } = await org.sent("alice", { cid, body: "hello" });
    await org.reacted("bob", mid, { add: "👍" });
    await org.conversation(["carol"]);
    using carol = await openSamaClient(org, "carol");
    const notFound = { status: 404, code: "message_not_found" };
    await expect(carol.request(list, { mid }, "reactions")).rejects.toMatchObject(notFound);
    using bob = await openSamaClient(org, "bob");
    await expect(bob.request(list, { mid: "unknown" }, "reactions")).rejects.toMatchObject(notFound);
    for (const data of [{}, { mid: 1 }, { mid, limit: 1 }])
      await expect(bob.request(list, data, "reactions")).rejects.toMatchObject({ status: 422 });
    await org.recalled("alice", cid, mid);
    await expect(bob.request(list, { mid }, "reactions")).rejects.toMatchObject(notFound);
  });

  test("gives the first thousand reactions of a message", async () => {
    const org = await createOrganization(herald());
    const uids = Array.from({ length: 501 }, (_, index) => `u${String(index).padStart(3, "0")}`);
    const cid = await org.conversation(["alice", ...uids]);
    const { server_mid } = await org.sent("alice", { cid, body: "hello" });
    const lines = uids.flatMap((senderId) =>
      ["👍", "🎉"].map((reaction) => ({ reaction: { mid: server_mid, senderId, reaction } })),
    );
    await importInto(org, lines);
    using alice = await openSamaClient(org, "alice");
    const first = uids.slice(0, 500);
    expect(await alice.request(list, { mid: server_mid }, "reactions")).toEqual({ "👍": first, "🎉": first });
  });
});
