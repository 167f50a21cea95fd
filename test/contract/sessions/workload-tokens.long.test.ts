import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { generateKeyPair, SignJWT } from "jose";
import { expectProblem } from "../../harness/reading/expectations.ts";
import { type Herald, startHerald } from "../../harness/servers/herald.ts";
import { openidClient, startOpenId } from "../../harness/servers/openid.ts";

setDefaultTimeout(120_000);

const roles = {
  groups: {
    workers: { scopes: ["*"], organizations: ["acme"] },
    admins: { scopes: ["*"] },
    readers: { scopes: ["directory:read"], organizations: ["globex", "initech"] },
  },
  "realm_access.roles": { "herald-admin": { scopes: ["directory:read"] } },
  email: { "root@example.org": { scopes: ["*"] } },
};

let openid: Awaited<ReturnType<typeof startOpenId>>;
let herald: Herald;
beforeAll(async () => {
  openid = await startOpenId();
  herald = await startHerald({ env: openid.settings(roles) });
  for (const org of ["acme", "globex", "initech", "hooli"])
    await herald.admin("PUT", `/admin/organizations/${org}`, {});
});
afterAll(async () => {
  await herald.stop();
  openid.stop();
});

function call<T>(token: string, method: string, path: string, body?: object) {
  return herald.http<T>(method, path, {
    headers: { Authorization: `Bearer ${token}`, "Content-Type": "application/json" },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
}

const tokenOf = (...groups: string[]) => openid.sign({ groups });
const ids = (answer: { body: unknown }) => (answer.body as { items: { id: string }[] }).items.map(({ id }) => id);

describe("a workload's token of the OpenID provider", () => {
  test("does what its roles allow, in their organizations only, and is named in the audit log", async () => {
    openid.visitor.roles = ["workers"];
    const token = await openid.workloadToken();
    expect((await call(token, "PUT", "/admin/organizations/acme/users/u1", {})).status).toBe(201);
    expectProblem(await call(token, "GET", "/admin/organizations/hooli/users"), 403, "organization_forbidden");
    expectProblem(await call(token, "GET", "/admin/nodes"), 403, "organization_forbidden");
    expect(ids(await call(token, "GET", "/admin/organizations"))).toEqual(["acme"]);
    const self = await call<{ id: null; organization: string }>(token, "GET", "/admin/self");
    expect(self.body).toMatchObject({ id: null, organization: "acme", scopes: ["*"] });
    const audit = await call<{ items: { key_id: string; operation: string }[] }>(token, "GET", "/admin/audit");
    expect(audit.body.items.find(({ operation }) => operation === "putUser")?.key_id).toBe(`oidc:${openidClient.id}`);
  });

  test("is a caller of the whole server if a role says so, and hands on no right that lasts longer than itself", async () => {
    const token = await tokenOf("admins");
    expect((await call(token, "GET", "/admin/nodes")).status).toBe(200);
    const key = { name: "k", scopes: ["directory:read"], organization: "acme" };
    expectProblem(await call(token, "POST", "/admin/keys", { ...key, expires_at: null }), 403, "insufficient_scope");
    expect((await call(token, "POST", "/admin/keys", key)).status).toBe(201);
  });

  test("of several organizations has in each what the roles there allow, and nothing in others", async () => {
    const token = await tokenOf("workers", "readers");
    expect(ids(await call(token, "GET", "/admin/organizations"))).toEqual(["acme", "globex", "initech"]);
    for (const org of ["acme", "globex", "initech"])
      expect((await call(token, "GET", `/admin/organizations/${org}/users`)).status).toBe(200);
    expect((await call(token, "PUT", "/admin/organizations/acme/users/u2", {})).status).toBe(201);
    expectProblem(await call(token, "PUT", "/admin/organizations/globex/users/u2", {}), 403, "insufficient_scope");
    expectProblem(await call(token, "GET", "/admin/organizations/hooli/users"), 403, "organization_forbidden");
    expectProblem(await call(token, "GET", "/admin/nodes"), 403, "organization_forbidden");
    const send = (organizationId: string) =>
      call(token, "POST", "/admin/message/system", {
        organizationId,
        senderId: "u1",
        messageSystem: { uids: ["u2"], x: {} },
      });
    expect((await send("acme")).status).toBe(201);
    expectProblem(await send("globex"), 403, "insufficient_scope");
    expectProblem(await send("hooli"), 403, "organization_forbidden");
    const lines = ["acme", "globex", "hooli"].map((organizationId) =>
      JSON.stringify({ organizationId, senderId: "u1", messageSystem: { uids: ["u2"], x: {} } }),
    );
    const batch = await herald.http("POST", "/admin/message/batch", {
      headers: { Authorization: `Bearer ${token}`, "Content-Type": "application/x-ndjson" },
      body: lines.join("\n"),
    });
    const answers = batch.text.trim().split("\n");
    expect(answers.map((line) => JSON.parse(line).problem?.code ?? "stored").slice(0, 3)).toEqual([
      "stored",
      "insufficient_scope",
      "organization_forbidden",
    ]);
    const self = await call(token, "GET", "/admin/self");
    expect(self.body).toMatchObject({ organization: null, organizations: ["acme", "globex", "initech"] });
    const key = { name: "k", scopes: ["directory:read"] };
    const made = await call<{ id: string }>(token, "POST", "/admin/keys", {
      ...key,
      organization: "acme",
    });
    expect(made.status).toBe(201);
    expectProblem(
      await call(token, "POST", "/admin/keys", { ...key, organization: "globex" }),
      403,
      "insufficient_scope",
    );
    expectProblem(
      await call(token, "POST", "/admin/keys", { ...key, organization: null }),
      403,
      "organization_forbidden",
    );
    expectProblem(await call(token, "POST", "/admin/keys", key), 403, "organization_forbidden");
    expect(ids(await call(token, "GET", "/admin/keys"))).toContain(made.body.id);
    expect((await call(token, "DELETE", `/admin/keys/${made.body.id}`)).status).toBe(204);
    expect((await call(token, "GET", "/admin/audit?organization=acme")).status).toBe(200);
    expectProblem(await call(token, "GET", "/admin/audit?organization=globex"), 403, "insufficient_scope");
  });

  test("gets roles by nested claims and verified addresses, but by no unverified one", async () => {
    const nested = await openid.sign({ realm_access: { roles: ["herald-admin"] } });
    expect((await call(nested, "GET", "/admin/organizations")).status).toBe(200);
    const email = "root@example.org";
    const verified = await openid.sign({ email, email_verified: true });
    expect((await call(verified, "GET", "/admin/nodes")).status).toBe(200);
    for (const claims of [{ email }, { email, email_verified: false }, { groups: ["constructor", "__proto__"] }, {}])
      expectProblem(await call(await openid.sign(claims), "GET", "/admin/organizations"), 403, "insufficient_scope");
  });

  test("is refused in one way unless the provider issued it for Herald, for an API, and it has not expired", async () => {
    const groups = ["admins"];
    const now = Math.floor(Date.now() / 1000);
    const { privateKey: other } = await generateKeyPair("RS256");
    const claims = { iss: openid.issuer, aud: openidClient.id, sub: "worker", exp: now + 3600, groups };
    const unsigned = (header: object) =>
      `${[header, claims].map((part) => Buffer.from(JSON.stringify(part)).toString("base64url")).join(".")}.x`;
    const secret = new TextEncoder().encode(openidClient.secret);
    const bad = [
      await openid.sign({ groups, aud: "another-client" }),
      await openid.sign({ groups, iss: "https://other.example.org" }),
      await openid.sign({ groups, exp: now - 60 }),
      await openid.sign({ groups, exp: undefined }),
      await openid.sign({ groups, sub: undefined }),
      await openid.sign({ groups, iat: now + 3600 }),
      await openid.sign({ groups, nonce: "of a sign-in" }),
      await openid.sign({ groups, events: {} }),
      await openid.sign({ groups }, { typ: "logout+jwt" }),
      await openid.sign({ groups }, { jku: "https://evil.example.org/keys" }),
      await new SignJWT(claims).setProtectedHeader({ alg: "RS256", kid: "k1" }).sign(other),
      await new SignJWT(claims).setProtectedHeader({ alg: "HS256", kid: "k1" }).sign(secret),
      unsigned({ alg: "none" }),
      "a.b.c",
    ];
    const details = new Set<string>();
    for (const token of bad) {
      const refused = await call<{ detail: string }>(token, "GET", "/admin/organizations");
      expectProblem(refused, 401, "unauthorized");
      details.add(refused.body.detail);
    }
    expect(details.size).toBe(1);
    expect((await call(await tokenOf("admins"), "GET", "/admin/organizations")).status).toBe(200);
  });

  test("opens neither a socket nor a stream, and is refused by a server without a provider", async () => {
    const token = await tokenOf("admins");
    expect((await call(token, "GET", "/sse")).status).toBe(401);
    await using plain = await startHerald();
    const refused = await plain.http("GET", "/admin/organizations", { headers: { Authorization: `Bearer ${token}` } });
    expectProblem(refused, 401, "unauthorized");
  });
});
