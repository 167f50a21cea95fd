import { describe, expect, test } from "bun:test";
import { decodeJwt } from "jose";
import { expectClosed, openSocket, type Socket } from "../../harness/clients/socket.ts";
import { openSse, requestSse } from "../../harness/clients/sse.ts";
import { expectProblem } from "../../harness/reading/expectations.ts";
import { TEST_TOKEN_SECRET, useHerald } from "../../harness/servers/herald.ts";
import { createOrganization, type Organization } from "../../harness/servers/organization.ts";
import { goodClaims, signToken } from "../../harness/servers/tokens.ts";

const herald = useHerald({ env: { HERALD_TOKEN_SECRET: TEST_TOKEN_SECRET } });

const idOf = (token: string) => String(decodeJwt(token).jti);
const revoke = (org: Organization, uid: string, jti: string) =>
  herald().admin("DELETE", org.path("users", uid, "tokens", jti));

async function connect(token: string): Promise<Socket> {
  const socket = await openSocket(herald().url, { uid: String(decodeJwt(token).sub) });
  expect((await socket.request("connect", { token })).success).toBe(true);
  return socket;
}

async function expectRefused(token: string): Promise<void> {
  using socket = await openSocket(herald().url);
  expect((await socket.request("connect", { token })).error).toMatchObject({ status: 401, code: "unauthorized" });
  await expectClosed(socket, 4401);
  const stream = await requestSse(herald().url, { Authorization: `Bearer ${token}` });
  if ("sse" in stream) throw new Error("a stream was granted");
  expectProblem(stream.refused, 401, "unauthorized");
}

describe("DELETE …/users/{uid}/tokens/{jti}", () => {
  test("closes the connections of that token with 4403 and refuses it; the user's other tokens stay valid", async () => {
    const org = await createOrganization(herald());
    const [lost, kept] = [await org.token("alice"), await org.token("alice")];
    expect(idOf(lost)).not.toBe(idOf(kept));
    using first = await connect(lost);
    using second = await openSse(herald().url, { Authorization: `Bearer ${lost}` }, "alice");
    using other = await connect(kept);
    expect((await revoke(org, "alice", idOf(lost))).status).toBe(204);
    await Promise.all([expectClosed(first, 4403), second.closed]);
    await expectRefused(lost);
    await org.expectNothingElse(other);
    using again = await connect(kept);
    await org.expectNothingElse(again);
  });

  test("takes no query: `messages=erase`, which erases a user, is refused rather than ignored", async () => {
    const org = await createOrganization(herald());
    const token = await org.token("alice");
    const path = `${org.path("users", "alice", "tokens", idOf(token))}?messages=erase`;
    expectProblem(await herald().admin("DELETE", path), 422, "invalid_request");
    using _ = await connect(token);
  });

  test("may be repeated, and may name a token that was never used, or that somebody else signed", async () => {
    const org = await createOrganization(herald());
    await org.user("alice");
    const claims = { ...goodClaims(org.id, "alice"), jti: "a/b ü😀" };
    const token = await signToken(claims);
    for (let round = 0; round < 3; round++) expect((await revoke(org, "alice", claims.jti)).status).toBe(204);
    await expectRefused(token);
    using socket = await connect(await signToken({ ...claims, jti: "another" }));
    await org.expectNothingElse(socket);
  });

  test("affects one user of one organization", async () => {
    const org = await createOrganization(herald());
    const other = await createOrganization(herald());
    for (const one of [org, other]) for (const uid of ["alice", "bob"]) await one.user(uid);
    const jti = "the same";
    const sign = (one: Organization, uid: string) => signToken({ ...goodClaims(one.id, uid), jti });
    using bob = await connect(await sign(org, "bob"));
    using namesake = await connect(await sign(other, "alice"));
    await revoke(org, "alice", jti);
    await expectRefused(await sign(org, "alice"));
    await org.expectNothingElse(bob);
    await other.expectNothingElse(namesake);
  });

  test("spares a connection that another token has taken over, and closes one that this token has", async () => {
    const org = await createOrganization(herald());
    const [first, second] = [await org.token("alice"), await org.token("alice")];
    using socket = await connect(first);
    expect((await socket.request("connect", { token: second })).success).toBe(true);
    await revoke(org, "alice", idOf(first));
    await org.expectNothingElse(socket);
    await revoke(org, "alice", idOf(second));
    await expectClosed(socket, 4403);
  });

  test("is not outrun by a connect, nor by an extension, with that token", async () => {
    const org = await createOrganization(herald());
    for (let round = 0; round < 20; round++) {
      const [first, second] = [await org.token("alice"), await org.token("alice")];
      using coming = await openSocket(herald().url, { uid: "alice" });
      using staying = await connect(first);
      const asked = [coming, staying].map((socket) =>
        socket.request("connect", { token: second }).catch(() => undefined),
      );
      await Promise.all([...asked, revoke(org, "alice", idOf(second))]);
      for (const { closed } of [coming, staying]) expect([4401, 4403]).toContain((await closed).code);
    }
  });

  test("survives the deletion of the user, and does not affect tokens without a `jti`", async () => {
    const org = await createOrganization(herald());
    const ahead = Math.floor(Date.now() / 1000) + 20;
    const claims = { ...goodClaims(org.id, "alice"), iat: ahead };
    await org.user("alice");
    await revoke(org, "alice", "t");
    await herald().admin("DELETE", org.path("users", "alice"));
    await expectRefused(await signToken({ ...claims, jti: "t" }));
    using socket = await connect(await signToken(claims));
    await org.expectNothingElse(socket);
  });

  test("is 404 for a missing user or organization, and is recorded in the audit log", async () => {
    const org = await createOrganization(herald());
    await org.user("alice");
    expectProblem(await revoke(org, "nobody", "t"), 404, "user_not_found");
    const nowhere = "/admin/organizations/nowhere-at-all/users/alice/tokens/t";
    expectProblem(await herald().admin("DELETE", nowhere), 404, "organization_not_found");
    expectProblem(await revoke(org, "alice", "x".repeat(129)), 422, "invalid_request");
    await revoke(org, "alice", "t-1");
    type Audit = { items: { target: object }[] };
    const query = `organization=${encodeURIComponent(org.id)}&operation=revokeToken&result=done`;
    const { body } = await herald().admin<Audit>("GET", `/admin/audit?${query}`);
    expect(body.items.map(({ target }) => target)).toEqual([{ organization: org.id, user: "alice", token: "t-1" }]);
  });
});
