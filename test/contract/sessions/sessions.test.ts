import { describe, expect, test } from "bun:test";
import { expectClosed, openSocket } from "../../harness/clients/socket.ts";
import { requestSse } from "../../harness/clients/sse.ts";
import { expectProblem } from "../../harness/reading/expectations.ts";
import { useHerald } from "../../harness/servers/herald.ts";
import { createOrganization } from "../../harness/servers/organization.ts";

const herald = useHerald();

describe("DELETE …/users/{uid}/sessions", () => {
  test("closes every connection of the user with 4403, and nobody else's", async () => {
    const org = await createOrganization(herald());
    const other = await createOrganization(herald());
    using phone = await org.socket("alice");
    using tablet = await org.socket("alice");
    using stream = await org.sse("alice");
    using bob = await org.socket("bob");
    using namesake = await other.socket("alice");
    const answer = await herald().admin("DELETE", org.path("users", "alice", "sessions"));
    expect(answer.status).toBe(204);
    expect(answer.text).toBe("");
    await Promise.all([expectClosed(phone, 4403), expectClosed(tablet, 4403), stream.closed]);
    await org.expectNothingElse(bob);
    await other.expectNothingElse(namesake);
  });

  test("refuses the tokens issued before it, and accepts those issued after it at once", async () => {
    const org = await createOrganization(herald());
    await org.user("alice");
    for (let round = 0; round < 10; round += 1) {
      const older = await org.token("alice");
      await herald().admin("DELETE", org.path("users", "alice", "sessions"));
      const newer = await org.token("alice");
      using refused = await openSocket(herald().url, { uid: "alice" });
      expect((await refused.request("connect", { token: older })).error).toMatchObject({
        status: 401,
        code: "unauthorized",
      });
      expect((await refused.closed).code).toBe(4401);
      const stream = await requestSse(herald().url, { Authorization: `Bearer ${older}` });
      if ("sse" in stream) throw new Error("an older token got a stream");
      expectProblem(stream.refused, 401, "unauthorized");
      using taken = await openSocket(herald().url, { uid: "alice" });
      expect((await taken.request("connect", { token: newer })).success).toBe(true);
      await org.expectNothingElse(taken);
    }
  });

  test("works without a connection and any number of times, even for a user's next connections", async () => {
    const org = await createOrganization(herald());
    await org.user("alice");
    for (let round = 0; round < 3; round += 1)
      expect((await herald().admin("DELETE", org.path("users", "alice", "sessions"))).status).toBe(204);
    using alice = await org.socket("alice");
    await org.expectNothingElse(alice);
    expect((await herald().admin("DELETE", org.path("users", "nobody", "sessions"))).status).toBe(404);
  });

  test("leaves the user in the conversations, and since recovers what was missed", async () => {
    const org = await createOrganization(herald());
    const cid = await org.conversation(["alice", "bob"]);
    using alice = await org.socket("alice");
    const seen = await org.sent("bob", { cid, body: "seen" });
    await alice.next();
    await herald().admin("DELETE", org.path("users", "alice", "sessions"));
    await expectClosed(alice, 4403);
    const missed = await org.sent("bob", { cid, body: "missed" });
    using back = await org.socket("alice", { since: seen.server_mid });
    expect((await back.next()).message?._id).toBe(missed.server_mid);
    await org.expectNothingElse(back);
  });
});

describe("connect on a connected socket", () => {
  test("with a token of another user is refused, and does not change its user", async () => {
    const org = await createOrganization(herald());
    await org.conversation(["bob"], "bobs");
    using alice = await org.socket("alice");
    const response = await alice.request("connect", { token: await org.token("bob") });
    expect(response.success).toBeUndefined();
    expect(response.error?.status).toBeGreaterThanOrEqual(400);
    expect(response.error?.status).toBeLessThan(500);
    using bob = await org.socket("bob");
    await org.sent("bob", { cid: "bobs", body: "private" });
    expect((await bob.next()).message?.body).toBe("private");
    expect(alice.events.filter((event) => event.message !== undefined)).toEqual([]);
  });

  test("with the same user of another organization is refused as well", async () => {
    const org = await createOrganization(herald());
    const other = await createOrganization(herald());
    await other.user("alice");
    using alice = await org.socket("alice");
    expect((await alice.request("connect", { token: await other.token("alice") })).error).toBeDefined();
  });

  test("with a bad token gets a 401 and is closed with 4401", async () => {
    const org = await createOrganization(herald());
    using alice = await org.socket("alice");
    expect((await alice.request("connect", { token: "nonsense" })).error).toMatchObject({
      status: 401,
      code: "unauthorized",
    });
    await expectClosed(alice, 4401);
  });

  test("does not deliver anything twice", async () => {
    const org = await createOrganization(herald());
    const cid = await org.conversation(["alice", "bob"]);
    using alice = await org.socket("alice");
    for (let round = 0; round < 3; round += 1)
      expect((await alice.request("connect", { token: await org.token("alice") })).success).toBe(true);
    const ask = await org.sent("bob", { cid, body: "once" });
    expect((await alice.next()).message?._id).toBe(ask.server_mid);
    await org.expectNothingElse(alice);
  });
});
