import { describe, expect, test } from "bun:test";
import { useHerald } from "../../harness/servers/herald.ts";
import { createOrganization } from "../../harness/servers/organization.ts";

const herald = useHerald();

describe("open connections follow membership at once:", () => {
  test("joining starts a conversation's messages, leaving ends them, repeatedly", async () => {
    const org = await createOrganization(herald());
    const cid = await org.conversation(["alice"]);
    using bob = await org.socket("bob");
    using stream = await org.sse("bob");
    for (let round = 0; round < 5; round += 1) {
      await org.sent("alice", { cid, body: "before" });
      await org.join(cid, "bob");
      await org.sent("alice", { cid, body: `within ${round}` });
      await org.leave(cid, "bob");
      await org.sent("alice", { cid, body: "after" });
      for (const listener of [bob, stream]) expect((await listener.next()).message?.body).toBe(`within ${round}`);
    }
    await org.expectNothingElse(bob, stream);
  });

  test("replacing the participants does both", async () => {
    const org = await createOrganization(herald());
    const cid = await org.conversation(["alice", "bob"]);
    using bob = await org.socket("bob");
    using carol = await org.socket("carol");
    await org.sent("alice", { cid, body: "1" });
    await org.conversation(["alice", "carol"], cid);
    await org.sent("alice", { cid, body: "2" });
    await org.conversation(["alice", "bob", "carol"], cid);
    await org.sent("alice", { cid, body: "3" });
    await org.expectNothingElseAfter(bob, ["1", "3"]);
    await org.expectNothingElseAfter(carol, ["2", "3"]);
  });

  test("a conversation created with a connected user in it reaches the user", async () => {
    const org = await createOrganization(herald());
    using bob = await org.socket("bob");
    const cid = await org.conversation(["alice", "bob"]);
    await org.sent("alice", { cid, body: "x" });
    await org.expectNothingElseAfter(bob, ["x"]);
  });

  test("a deleted conversation is silent, and the user's others continue", async () => {
    const org = await createOrganization(herald());
    const [gone, kept] = [await org.conversation(["alice", "bob"]), await org.conversation(["alice", "bob"])];
    using bob = await org.socket("bob");
    await org.sent("alice", { cid: gone, body: "1" });
    await herald().admin("DELETE", org.path("conversations", gone));
    await org.send("alice", { cid: gone, body: "2" });
    await org.sent("alice", { cid: kept, body: "3" });
    await org.expectNothingElseAfter(bob, ["1", "3"]);
  });

  test("a sender who joins hears the own message", async () => {
    const org = await createOrganization(herald());
    const cid = await org.conversation(["alice"]);
    using bob = await org.socket("bob");
    await org.join(cid, "bob");
    await org.sent("bob", { cid, body: "mine" });
    await org.expectNothingElseAfter(bob, ["mine"]);
  });

  test("joining twice does not deliver twice", async () => {
    const org = await createOrganization(herald());
    const cid = await org.conversation(["alice", "bob"]);
    using bob = await org.socket("bob");
    await Promise.all(Array.from({ length: 10 }, () => org.join(cid, "bob")));
    await org.conversation(["alice", "bob"], cid);
    await org.sent("alice", { cid, body: "once" });
    await org.expectNothingElseAfter(bob, ["once"]);
    await org.leave(cid, "bob");
    await org.sent("alice", { cid, body: "gone" });
    await org.expectNothingElse(bob);
  });

  test("a conversation of the same id in another organization is not affected", async () => {
    const org = await createOrganization(herald());
    const other = await createOrganization(herald());
    const cid = await org.conversation(["alice"]);
    await other.conversation(["alice", "bob"], cid);
    using bob = await org.socket("bob");
    await other.join(cid, "bob");
    await org.sent("alice", { cid, body: "not for bob" });
    await other.sent("alice", { cid, body: "not here" });
    await org.expectNothingElse(bob);
  });

  test("while messages flow, a user hears exactly what lies between joining and leaving", async () => {
    const org = await createOrganization(herald());
    const cid = await org.conversation(["alice"]);
    using alice = await org.socket("alice");
    using bob = await org.socket("bob");
    let isSending = true;
    let count = 0;
    const sending = Promise.all(
      Array.from({ length: 4 }, async () => {
        while (isSending) await org.sent("alice", { cid, body: String(count++) });
      }),
    );
    for (let round = 0; round < 10; round += 1) {
      const joined = count + 8;
      while (count < joined) await alice.next();
      await org.join(cid, "bob");
      const left = count + 16;
      while (count < left) await alice.next();
      await org.leave(cid, "bob");
    }
    isSending = false;
    await sending;
    const mark = await org.sentSystem("alice", { uids: ["alice", "bob"] });
    for (const listener of [alice, bob])
      await listener.next((event) => event.system_message?._id === mark.mid, "the mark");
    const all = alice.events.flatMap((event) => event.message?._id ?? []);
    const heard = bob.events.flatMap((event) => event.message?._id ?? []);
    expect(heard).toEqual(all.filter((id) => heard.includes(id)));
    const runs = heard.filter(
      (id, index) => index === 0 || all.indexOf(id) !== all.indexOf(heard[index - 1] ?? "") + 1,
    );
    expect(runs.length).toBeLessThanOrEqual(10);
    expect(heard.length).toBeGreaterThanOrEqual(10 * 8);
    expect(heard.length).toBeLessThan(all.length);
  });
});
