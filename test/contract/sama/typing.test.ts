import { describe, expect, test } from "bun:test";
import { openSamaClient } from "../../harness/clients/sama-client.ts";
import { openSocket } from "../../harness/clients/socket.ts";
import { eventually } from "../../harness/deadline.ts";
import { readSample } from "../../harness/reading/metrics.ts";
import { useHerald } from "../../harness/servers/herald.ts";
import { createOrganization } from "../../harness/servers/organization.ts";

const herald = useHerald({ env: { HERALD_LIMIT_USER_REQUESTS: "0", HERALD_LIMIT_REQUESTS_PER_CONNECTION: "0" } });

const seconds = expect.any(Number);

describe("a typing frame of a SAMA client", () => {
  test("is heard by the other participants on all their connections, and answered under its id or its cid", async () => {
    const org = await createOrganization(herald());
    const cid = await org.conversation(["alice", "bob", "carol"]);
    await org.conversation(["dave", "alice"]);
    using phone = await openSamaClient(org, "alice");
    using laptop = await org.socket("alice");
    using bob = await org.socket("bob");
    using tablet = await org.socket("bob");
    using carol = await org.socket("carol");
    using dave = await org.socket("dave");
    const before = Math.floor(Date.now() / 1000);
    phone.socket.send({ typing: { cid } });
    expect(await phone.socket.responses.next()).toEqual({ id: cid, success: true });
    for (const other of [bob, tablet, carol]) {
      const { typing } = await other.next();
      expect(typing).toEqual({ cid, from: "alice", status: "start", t: seconds });
      expect(typing?.t).toBeWithin(before, Date.now() / 1000 + 1);
    }
    bob.send({ typing: { id: 7, cid, status: "stop" } });
    expect(await bob.responses.next()).toEqual({ id: 7, success: true });
    // What came before bob's would have been heard before it.
    for (const other of [phone.socket, laptop, carol])
      expect(await other.next()).toEqual({ typing: { cid, from: "bob", status: "stop", t: seconds } });
    await org.expectNothingElse(phone.socket, laptop, bob, tablet, carol, dave);
  });

  test("may also be a request; nothing of it is stored", async () => {
    const org = await createOrganization(herald());
    const cid = await org.conversation(["alice", "bob"]);
    using bob = await org.socket("bob"); // first, as what nobody waits for is lost until the bus knows of bob's node
    using alice = await openSamaClient(org, "alice");
    const { server_mid } = await org.sent("alice", { cid, body: "hi" });
    for (const socket of [bob, alice.socket]) expect((await socket.next()).message?.body).toBe("hi");
    expect(await alice.request("typing", { cid, status: "start" }, "success")).toBe(true);
    expect((await bob.next()).typing?.from).toBe("alice");
    using again = await org.socket("bob", { since: server_mid });
    await org.expectNothingElse(again, bob);
    expect((await org.history(cid)).map(({ body }) => body)).toEqual(["hi"]);
  });

  test("is refused to those who take no part, whether there is such a conversation or not, and heard no more by who left", async () => {
    const org = await createOrganization(herald());
    const cid = await org.conversation(["alice", "bob", "carol"]);
    const theirs = await org.conversation(["bob"]);
    using alice = await openSamaClient(org, "alice");
    using bob = await org.socket("bob");
    using carol = await openSamaClient(org, "carol");
    for (const other of [theirs, "nowhere"]) {
      alice.socket.send({ typing: { cid: other } });
      const { id, error } = await alice.socket.responses.next();
      expect([id, error?.status, error?.code]).toEqual([other, 403, "not_a_participant"]);
    }
    await org.leave(cid, "carol");
    const refused = async () => {
      const outcome = await carol.request("typing", { cid }, "success").catch(({ code }) => code);
      return outcome === "not_a_participant" ? true : undefined;
    };
    await eventually(refused, "carol to have left");
    await alice.request("typing", { cid, status: "stop" }, "success");
    expect(await bob.next(({ typing }) => typing?.from === "alice")).toEqual({
      typing: { cid, from: "alice", status: "stop", t: seconds },
    });
    await org.expectNothingElse(alice.socket);
    expect(carol.socket.waiting).toEqual([]);
  });

  test("is refused if it cannot be read, and before connect", async () => {
    const org = await createOrganization(herald());
    const cid = await org.conversation(["alice"]);
    using alice = await openSamaClient(org, "alice");
    using stranger = await openSocket(herald().url);
    const outcomes: [frame: object, id: string | number | undefined, status: number][] = [
      [{ typing: { cid, status: "typing" } }, cid, 422],
      [{ typing: { cid, type: "start" } }, cid, 422],
      [{ typing: { id: "t1" } }, "t1", 422],
      [{ typing: {} }, undefined, 400],
      [{ typing: null }, undefined, 400],
      [{ typing: { cid }, request: { ping: {}, id: "1" } }, undefined, 400],
    ];
    for (const [frame, id, status] of outcomes) {
      alice.socket.send(frame);
      const answer = await alice.socket.responses.next();
      expect([answer.id, answer.error?.status]).toEqual([id, status]);
    }
    stranger.send({ typing: { cid } });
    expect((await stranger.responses.next()).error?.status).toBe(401);
  });

  test("holds nothing once its connections are gone", async () => {
    const org = await createOrganization(herald());
    const cid = await org.conversation(["alice", "bob"]);
    for (let round = 0; round < 3; round++) {
      using alice = await openSamaClient(org, "alice");
      await alice.request("typing", { cid }, "success");
    }
    const held = () => readSample(herald().url, "herald_held", { what: "typing" });
    await eventually(async () => (await held()) === 0 || undefined, "nothing held");
  });
});

describe("activity_status", () => {
  test("is answered with success, and an inactive client hears everything", async () => {
    const org = await createOrganization(herald());
    const cid = await org.conversation(["alice", "bob"]);
    using bob = await openSamaClient(org, "bob");
    for (const data of [{ isInactive: true }, {}, { isInactive: true }])
      expect(await bob.request("activity_status", data, "success")).toBe(true);
    await org.sent("alice", { cid, body: "hi" });
    expect((await bob.socket.next()).message?.body).toBe("hi");
    for (const data of [{ isInactive: "yes" }, { inactive: true }])
      await expect(bob.request("activity_status", data, "success")).rejects.toMatchObject({ status: 422 });
    await org.expectNothingElse(bob.socket);
  });
});
