import { describe, expect, test } from "bun:test";
import { expectClosed, openSocket } from "../../harness/clients/socket.ts";
import { requestSse } from "../../harness/clients/sse.ts";
import type { Noun } from "../../harness/clients/wire.ts";
import { expectProblem, ISO_MILLISECONDS } from "../../harness/reading/expectations.ts";
import { TEST_TOKEN_SECRET, useHerald } from "../../harness/servers/herald.ts";
import { createOrganization, type Organization, readList } from "../../harness/servers/organization.ts";
import { goodClaims, signToken } from "../../harness/servers/tokens.ts";

const herald = useHerald({ env: { HERALD_TOKEN_SECRET: TEST_TOKEN_SECRET } });

const put = (org: Organization, uid: string, body: object) => herald().admin<Noun>("PUT", org.path("users", uid), body);

/** Expects that a token opens nothing, and that the client is told to stay away. */
async function expectBlocked(token: string): Promise<void> {
  using byFrame = await openSocket(herald().url);
  const { error } = await byFrame.request("connect", { token });
  expect(error).toEqual({ status: 401, code: "unauthorized", message: expect.stringContaining("blocked") });
  await expectClosed(byFrame, 4403);
  const headers = { Authorization: `Bearer ${token}` };
  using byHeader = await openSocket(herald().url, { headers });
  await expectClosed(byHeader, 4403);
  const stream = await requestSse(herald().url, headers);
  if ("sse" in stream) throw new Error("a stream was granted to a blocked user");
  expectProblem(stream.refused, 401, "unauthorized");
}

async function expectAdmitted(token: string): Promise<void> {
  using socket = await openSocket(herald().url);
  expect((await socket.request("connect", { token })).success).toBe(true);
}

describe("a blocked user", () => {
  test("loses every connection with 4403, and nobody else does", async () => {
    const org = await createOrganization(herald());
    const other = await createOrganization(herald());
    using phone = await org.socket("alice");
    using stream = await org.sse("alice");
    using bob = await org.socket("bob");
    using namesake = await other.socket("alice");
    expect((await put(org, "alice", { blocked: true })).status).toBe(200);
    await Promise.all([expectClosed(phone, 4403), stream.closed]);
    await org.expectNothingElse(bob);
    await other.expectNothingElse(namesake);
  });

  test("is refused with every token, however recent, until unblocked", async () => {
    const org = await createOrganization(herald());
    const older = await org.token("alice");
    await put(org, "alice", { blocked: true });
    await expectBlocked(older);
    const newer = await org.token("alice");
    const now = Math.floor(Date.now() / 1000);
    const ahead = await signToken({ ...goodClaims(org.id, "alice"), iat: now + 20 });
    for (const token of [newer, ahead]) await expectBlocked(token);
    await put(org, "alice", { name: "still blocked" });
    await expectBlocked(newer);
    expect((await put(org, "alice", { blocked: false })).status).toBe(200);
    for (const token of [older, newer, ahead]) await expectAdmitted(token);
  });

  test("also loses connections of tokens issued by a clock that is ahead", async () => {
    const org = await createOrganization(herald());
    await org.user("alice");
    const now = Math.floor(Date.now() / 1000);
    using socket = await openSocket(herald().url);
    await socket.request("connect", { token: await signToken({ ...goodClaims(org.id, "alice"), iat: now + 20 }) });
    await put(org, "alice", { blocked: true });
    await expectClosed(socket, 4403);
  });

  test("need not exist before: PUT creates and blocks the user, whatever an identity provider signs later", async () => {
    const org = await createOrganization(herald());
    const created = await put(org, "mallory", { name: "Mallory", blocked: true });
    expect(created.status).toBe(201);
    await expectBlocked(await signToken(goodClaims(org.id, "mallory")));
  });

  test("stays blocked when deleted, so that the next token does not create the user again", async () => {
    const org = await createOrganization(herald());
    await put(org, "alice", { blocked: true });
    await herald().admin("DELETE", org.path("users", "alice"));
    const now = Math.floor(Date.now() / 1000);
    const token = await signToken({ ...goodClaims(org.id, "alice"), iat: now + 20 });
    await expectBlocked(token);
    expectProblem(await herald().admin("GET", org.path("users", "alice")), 404, "user_not_found");
    expect((await put(org, "alice", {})).body.blocked).toBe(true);
    await put(org, "alice", { blocked: false });
    await expectAdmitted(token);
  });

  test("is shown as `blocked`, and nobody else shows that member", async () => {
    const org = await createOrganization(herald());
    await org.user("bob");
    const shown = { id: "alice", name: null, created_at: expect.stringMatching(ISO_MILLISECONDS) };
    const blocked = { ...shown, blocked: true as const };
    expect((await put(org, "alice", { blocked: true })).body).toEqual(blocked);
    expect((await put(org, "alice", {})).body).toEqual(blocked);
    expect((await herald().admin<Noun>("GET", org.path("users", "alice"))).body).toEqual(blocked);
    expect((await readList<Noun>(herald(), org.path("users"))).map(Object.keys)).toEqual([
      ["id", "name", "created_at", "blocked"],
      ["id", "name", "created_at"],
    ]);
    const unblocked = await put(org, "alice", { blocked: false });
    expect(unblocked.body).toEqual(shown);
    expect(Object.keys(unblocked.body)).toEqual(["id", "name", "created_at"]);
  });

  test("keeps the conversations, can still receive and be sent as, and recovers what was missed once unblocked", async () => {
    const org = await createOrganization(herald());
    const cid = await org.conversation(["alice", "bob"]);
    const seen = await org.sent("bob", { cid, body: "seen" });
    await put(org, "alice", { blocked: true });
    const missed = await org.sent("bob", { cid, body: "missed" });
    const own = await org.sent("alice", { cid, body: "an administrator speaks for alice" });
    await put(org, "alice", { blocked: false });
    using alice = await org.socket("alice", { since: seen.server_mid });
    const heard = [(await alice.next()).message?._id, (await alice.next()).message?._id];
    expect(heard).toEqual([missed.server_mid, own.server_mid]);
  });

  test("cannot extend a session either", async () => {
    const org = await createOrganization(herald());
    for (let round = 0; round < 5; round++) {
      using alice = await org.socket("alice");
      const token = await org.token("alice");
      const [answer] = await Promise.all([
        alice.request("connect", { token }).catch(() => undefined),
        put(org, "alice", { blocked: true }),
      ]);
      expect([undefined, true]).toContain(answer?.success);
      await expectClosed(alice, 4403);
      await put(org, "alice", { blocked: false });
    }
  });

  test("does not slip in while being blocked", async () => {
    const org = await createOrganization(herald());
    for (let round = 0; round < 20; round++) {
      const token = await org.token("alice");
      using socket = await openSocket(herald().url);
      const connecting = socket.request("connect", { token }).catch(() => undefined);
      await Promise.all([connecting, put(org, "alice", { blocked: true })]);
      await expectClosed(socket, 4403);
      await put(org, "alice", { blocked: false });
    }
  });

  test("is blocked by true and false and nothing else, and only in an existing organization", async () => {
    const org = await createOrganization(herald());
    for (const blocked of [null, 1, "true", {}, []])
      expectProblem(await put(org, "alice", { blocked }), 422, "invalid_request", "/blocked");
    const nowhere = await herald().admin("PUT", "/admin/organizations/nowhere-at-all/users/alice", { blocked: true });
    expectProblem(nowhere, 404, "organization_not_found");
    expectProblem(await herald().admin("PUT", org.path(), { blocked: true }), 422, "invalid_request");
    expectProblem(
      await herald().admin("PUT", org.path("conversations", "c"), { blocked: true }),
      422,
      "invalid_request",
    );
  });
});
