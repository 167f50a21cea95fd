import { describe, expect, test } from "bun:test";
import { expectProblem, systemMessageOf, UUID_V7 } from "../../harness/reading/expectations.ts";
import { useHerald } from "../../harness/servers/herald.ts";
import { createOrganization } from "../../harness/servers/organization.ts";

const herald = useHerald();

const post = (body: unknown) => herald().admin("POST", "/admin/message/system", body);

describe("POST /admin/message/system", () => {
  test("answers 201 with exactly {ack:{mid,t}} as JSON", async () => {
    const org = await createOrganization(herald());
    await org.user("alice");
    const answer = await org.sendSystem("alice", { id: "s-1", uids: ["alice"], x: {} });
    expect(answer.status).toBe(201);
    expect(answer.headers.get("content-type")).toMatch(/^application\/json\b/);
    expect(answer.headers.has("idempotent-replayed")).toBe(false);
    expect(Object.keys(answer.body)).toEqual(["ack"]);
    expect(Object.keys(answer.body.ack).sort()).toEqual(["mid", "t"]);
    expect(answer.body.ack.mid).toBe("s-1");
    expect(answer.body.ack.t).toBeInteger();
    expect(Math.abs(answer.body.ack.t - Date.now() / 1000)).toBeLessThan(60);
  });

  test("assigns an id if none is given, and delivers under it", async () => {
    const org = await createOrganization(herald());
    using alice = await org.socket("alice");
    const first = await org.sentSystem("alice", { uids: ["alice"] });
    const second = await org.sentSystem("alice", { uids: ["alice"] });
    expect(first.mid).toMatch(UUID_V7);
    expect(second.mid).not.toBe(first.mid);
    expect(systemMessageOf(await alice.next())._id).toBe(first.mid);
    expect(systemMessageOf(await alice.next())._id).toBe(second.mid);
  });

  test("gives each listed online user exactly the four members, and nobody else", async () => {
    const org = await createOrganization(herald());
    using alice = await org.socket("alice");
    using bob = await org.sse("bob");
    using carol = await org.socket("carol");
    const x = { kind: "maintenance", at: [1, 2] };
    const ack = await org.sentSystem("carol", { id: "s-1", uids: ["alice", "bob"], x });
    for (const listener of [alice, bob]) {
      expect(systemMessageOf(await listener.next())).toEqual({ _id: "s-1", t: ack.t, from: "carol", x });
    }
    await org.expectNothingElse(alice, bob, carol);
  });

  test("fills in x if it is omitted", async () => {
    const org = await createOrganization(herald());
    using alice = await org.socket("alice");
    await org.sentSystem("alice", { id: "s-1", uids: ["alice"] });
    expect(systemMessageOf(await alice.next()).x).toEqual({});
  });

  test("collapses users listed twice: each connection hears it once", async () => {
    const org = await createOrganization(herald());
    using alice = await org.socket("alice");
    using second = await org.socket("alice");
    await org.sentSystem("alice", { id: "s-1", uids: ["alice", "alice", "bob", "alice"] });
    await Promise.all([alice.next(), second.next()]);
    await org.expectNothingElse(alice, second);
  });

  test("reaches only the users of its own organization", async () => {
    const org = await createOrganization(herald());
    const other = await createOrganization(herald());
    using foreign = await other.socket("alice");
    using alice = await org.socket("alice");
    await org.sentSystem("alice", { id: "s-1", uids: ["alice"] });
    await alice.next();
    await other.expectNothingElse(foreign);
  });

  test("accepts unknown and offline users: stored, heard by nobody", async () => {
    const org = await createOrganization(herald());
    await org.user("alice");
    await org.user("offline");
    expect((await org.sendSystem("alice", { id: "s-1", uids: ["nobody", "offline"] })).status).toBe(201);
    using offline = await org.socket("offline");
    using nobody = await org.socket("nobody");
    await org.expectNothingElse(offline, nobody);
  });

  test("accepts 10,000 users and refuses 10,001", async () => {
    const org = await createOrganization(herald());
    using last = await org.socket("user 9999");
    const uids = Array.from({ length: 10_000 }, (_, index) => `user ${index}`);
    expect((await org.sendSystem("user 9999", { id: "s-1", uids })).status).toBe(201);
    expect(systemMessageOf(await last.next())._id).toBe("s-1");
    expectProblem(
      await org.sendSystem<unknown>("user 9999", { id: "s-2", uids: [...uids, "one more"] }),
      422,
      "invalid_request",
      "/messageSystem/uids",
    );
    await org.expectNothingElse(last);
  });

  test("sent again is a retry: the first answer, marked, and heard once", async () => {
    const org = await createOrganization(herald());
    using alice = await org.socket("alice");
    const messageSystem = { id: "s-1", uids: ["alice", "bob"], x: { a: 1, b: 2 } };
    const first = await org.sendSystem("alice", messageSystem);
    const answers = await Promise.all(Array.from({ length: 100 }, () => org.sendSystem("alice", messageSystem)));
    expect(new Set(answers.map((answer) => answer.text))).toEqual(new Set([first.text]));
    expect(new Set(answers.map((answer) => answer.status))).toEqual(new Set([201]));
    expect(new Set(answers.map((answer) => answer.headers.get("idempotent-replayed")))).toEqual(new Set(["true"]));
    expect((await org.sendSystem("alice", { x: { b: 2, a: 1 }, uids: ["alice", "bob"], id: "s-1" })).status).toBe(201);
    await alice.next();
    await org.expectNothingElse(alice);
  });

  test("with a used id and another payload is a conflict, whichever field differs", async () => {
    const org = await createOrganization(herald());
    using alice = await org.socket("alice");
    const messageSystem = { id: "s-1", uids: ["alice", "bob"], x: { a: 1 } };
    await org.sentSystem("alice", messageSystem);
    const changes: Record<string, unknown>[] = [
      { uids: ["alice"] },
      { uids: ["alice", "carol"] },
      { uids: ["alice", "bob", "carol"] },
      { x: { a: 2 } },
      { x: undefined },
    ];
    for (const change of changes)
      expectProblem(
        await org.sendSystem<unknown>("alice", { ...messageSystem, ...change }),
        409,
        "message_id_conflict",
      );
    await alice.next();
    await org.expectNothingElse(alice);
  });

  test("with an id used by another sender or organization is another send", async () => {
    const org = await createOrganization(herald());
    const other = await createOrganization(herald());
    await other.user("alice");
    await org.user("bob");
    using alice = await org.socket("alice");
    await org.sentSystem("alice", { id: "s-1", uids: ["alice"] });
    await org.sentSystem("bob", { id: "s-1", uids: ["alice"], x: { other: true } });
    await other.sentSystem("alice", { id: "s-1", uids: ["alice"], x: { foreign: true } });
    expect(systemMessageOf(await alice.next()).from).toBe("alice");
    expect(systemMessageOf(await alice.next()).from).toBe("bob");
    await org.expectNothingElse(alice);
  });

  test("refuses a request without its required members, pointing at them", async () => {
    const org = await createOrganization(herald());
    await org.user("alice");
    const whole = { organizationId: org.id, senderId: "alice", messageSystem: { uids: ["alice"] } };
    expectProblem(await post({ ...whole, organizationId: undefined }), 422, "invalid_request", "/organizationId");
    expectProblem(await post({ ...whole, senderId: undefined }), 422, "invalid_request", "/senderId");
    expectProblem(await post({ ...whole, messageSystem: undefined }), 422, "invalid_request", "/messageSystem");
    expectProblem(await post({ ...whole, messageSystem: {} }), 422, "invalid_request", "/messageSystem/uids");
    expectProblem(await post({ ...whole, messageSystem: { uids: [] } }), 422, "invalid_request", "/messageSystem/uids");
  });

  test("refuses members of another type and unknown members", async () => {
    const org = await createOrganization(herald());
    await org.user("alice");
    const whole = { organizationId: org.id, senderId: "alice", messageSystem: { uids: ["alice"] } };
    const refusals: [Record<string, unknown>, string?][] = [
      [{ uids: "alice" }, "/messageSystem/uids"],
      [{ uids: null }, "/messageSystem/uids"],
      [{ uids: { 0: "alice" } }, "/messageSystem/uids"],
      [{ uids: ["alice", 1] }, "/messageSystem/uids/1"],
      [{ uids: [""] }, "/messageSystem/uids/0"],
      [{ uids: ["a\nb"] }, "/messageSystem/uids/0"],
      [{ id: 1 }, "/messageSystem/id"],
      [{ id: "" }, "/messageSystem/id"],
      [{ x: [] }, "/messageSystem/x"],
      [{ x: "x" }, "/messageSystem/x"],
      [{ body: "text" }],
      [{ cid: "c" }],
      [{ UIDs: ["alice"] }],
    ];
    for (const [change, pointer] of refusals) {
      expectProblem(
        await post({ ...whole, messageSystem: { ...whole.messageSystem, ...change } }),
        422,
        "invalid_request",
        pointer,
      );
    }
    expectProblem(await post({ ...whole, extra: 1 }), 422, "invalid_request");
    expectProblem(await post({ ...whole, senderId: 1 }), 422, "invalid_request", "/senderId");
  });

  test("refuses a sender who is not a user of the organization with sender_not_found", async () => {
    const org = await createOrganization(herald());
    const other = await createOrganization(herald());
    await other.user("alice");
    expectProblem(await org.sendSystem<unknown>("alice", { uids: ["alice"] }), 404, "sender_not_found");
    expectProblem(
      await post({ organizationId: "nowhere", senderId: "alice", messageSystem: { uids: ["alice"] } }),
      404,
      "organization_not_found",
    );
  });

  test("is never replayed: since and Last-Event-ID give conversation messages only", async () => {
    const org = await createOrganization(herald());
    const cid = await org.conversation(["alice"]);
    const seen = await org.sent("alice", { cid, body: "seen" });
    await org.sentSystem("alice", { id: "s-1", uids: ["alice"] });
    const missed = await org.sent("alice", { cid, body: "missed" });
    await org.sentSystem("alice", { id: "s-2", uids: ["alice"] });
    using socket = await org.socket("alice", { since: seen.server_mid });
    using stream = await org.sse("alice", { lastEventId: seen.server_mid });
    for (const listener of [socket, stream]) expect((await listener.next()).message?._id).toBe(missed.server_mid);
    await org.expectNothingElse(socket, stream);
  });

  test("is not part of any conversation's history", async () => {
    const org = await createOrganization(herald());
    const cid = await org.conversation(["alice"]);
    await org.sentSystem("alice", { id: "s-1", uids: ["alice"] });
    expect(await org.history(cid)).toEqual([]);
  });
});
