import { expect, test } from "bun:test";
import { decodeJwt, decodeProtectedHeader } from "jose";
import { issueUserToken } from "../../sdk/admin.ts";
import { TEST_TOKEN_SECRET, useHerald } from "../harness/servers/herald.ts";
import { createOrganization } from "../harness/servers/organization.ts";
import { listenWithSdk } from "./listening.ts";

const herald = useHerald({ env: { HERALD_TOKEN_SECRET: TEST_TOKEN_SECRET } });
const secret = TEST_TOKEN_SECRET;

/** The names and types of what a token says. */
const shapeOf = (token: string) => ({
  header: decodeProtectedHeader(token),
  claims: Object.entries(decodeJwt(token))
    .map(([name, value]) => `${name}: ${typeof value}`)
    .sort(),
});

test("a token issued without the server says what the server's own tokens say", async () => {
  const org = await createOrganization(herald());
  const own = await issueUserToken({ secret, organization: org.id, user: "alice" });
  const servers = await org.token("alice");
  expect(shapeOf(own.token)).toEqual(shapeOf(servers));
  const { iat = 0, exp = 0, jti } = decodeJwt(own.token);
  expect(exp - iat).toBeCloseTo(3600, 3);
  expect(jti).toMatch(/^[0-9a-f-]{36}$/);
});

test("a user who is not known yet connects with it, and hears what is sent", async () => {
  const org = await createOrganization(herald());
  const user = "zoë/🌻";
  const token = () => issueUserToken({ secret, organization: org.id, user }).then((issued) => issued.token);
  using app = listenWithSdk(org, user, herald().url, { token });
  await app.untilConnected();
  const cid = await org.conversation([user]);
  const sent = await org.sent(user, { cid, body: "hello" });
  await app.until(sent.server_mid);
});

test("it expires, is revoked by its jti, and is refused after a sign-out", async () => {
  const org = await createOrganization(herald());
  await org.user("bob");
  const issue = (ttlSeconds: number) => issueUserToken({ secret, organization: org.id, user: "bob", ttlSeconds });
  const stateWith = async (token: string) => {
    using app = listenWithSdk(org, "bob", herald().url, { token: () => token });
    return await app.states.next((state) => state !== "connecting");
  };
  const past = { secret, organization: org.id, user: "bob", nowMs: Date.now() - 7_200_000 };
  expect(await stateWith((await issueUserToken(past)).token)).toContain("4401");
  const one = await issue(60);
  expect(await stateWith(one.token)).toBe("connected");
  await herald().admin("DELETE", org.path("users", "bob", "tokens", decodeJwt(one.token).jti ?? ""));
  expect(await stateWith(one.token)).toContain("4401");
  const other = await issue(60);
  expect(await stateWith(other.token)).toBe("connected");
  await herald().admin("DELETE", org.path("users", "bob", "sessions"));
  expect(await stateWith(other.token)).toContain("4401");
});

test("a longer life than the server allows, or another secret, is refused", async () => {
  const org = await createOrganization(herald());
  for (const changed of [{ ttlSeconds: 31 * 86_400 }, { secret: `${secret}?` }]) {
    const { token } = await issueUserToken({ secret, organization: org.id, user: "carol", ...changed });
    using app = listenWithSdk(org, "carol", herald().url, { token: () => token });
    expect(await app.states.next((state) => state !== "connecting")).toContain("4401");
  }
});
