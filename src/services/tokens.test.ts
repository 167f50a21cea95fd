import { describe, expect, test } from "bun:test";
import { decodeJwt, exportJWK, generateKeyPair, SignJWT } from "jose";
import { createTokens } from "./tokens.ts";

const secret = "a secret of at least thirty-two bytes";
const now = 1_795_000_000_123;
const clock = { now: () => now };
const user = { org: "o", uid: "u", ttlSeconds: 60, issuedAfter: 0 };

/** A key set on a port of its own, as an identity provider serves it. */
async function startProvider(algorithm: "ES256" | "EdDSA" | "RS256") {
  const { privateKey, publicKey } = await generateKeyPair(algorithm, { extractable: true });
  const keys = [{ ...(await exportJWK(publicKey)), kid: "k1", alg: algorithm, use: "sig" }];
  const server = Bun.serve({ port: 0, fetch: () => Response.json({ keys }) });
  const sign = (claims: Record<string, unknown>) =>
    new SignJWT({ sub: "u", org: "o", aud: "herald", iss: "idp", exp: now / 1000 + 60, ...claims })
      .setProtectedHeader({ alg: algorithm, typ: "JWT", kid: "k1" })
      .sign(privateKey);
  return { url: server.url.href, sign, [Symbol.dispose]: () => void server.stop(true) };
}

describe("a user token", () => {
  test("says whose it is, from when and until when, to the millisecond", async () => {
    const tokens = createTokens({ secret, clock });
    const { token, expiresAt } = await tokens.issue(user);
    expect(expiresAt).toBe(now + 60_000);
    expect(await tokens.verify(token)).toEqual({ org: "o", uid: "u", issuedAt: now, expiresAt });
  });

  test("counts as issued after a sign-out of the same millisecond", async () => {
    const tokens = createTokens({ secret, clock });
    const { token } = await tokens.issue({ ...user, issuedAfter: now });
    expect((await tokens.verify(token)).issuedAt).toBe(now + 1);
  });

  test("of the future is refused: a sign-out of today could not end it", async () => {
    const tokens = createTokens({ secret, clock });
    const early = (seconds: number) => createTokens({ secret, clock: { now: () => now + seconds * 1000 } }).issue(user);
    await expect(tokens.verify((await early(31)).token)).rejects.toMatchObject({ code: "unauthorized" });
    expect((await tokens.verify((await early(29)).token)).uid).toBe("u");
  });

  test("that only the clock skew keeps valid is valid until the skew ends, and not longer", async () => {
    const late = (seconds: number) => createTokens({ secret, clock: { now: () => now + 60_000 + seconds * 1000 } });
    const { token, expiresAt } = await createTokens({ secret, clock }).issue(user);
    expect((await late(10).verify(token)).expiresAt).toBe(expiresAt + 30_000);
    await expect(late(31).verify(token)).rejects.toMatchObject({ code: "unauthorized" });
  });

  test.each(["ES256", "EdDSA", "RS256"] as const)(
    "of an identity provider is taken when it is signed with %s",
    async (algorithm) => {
      using provider = await startProvider(algorithm);
      const tokens = createTokens({ secret, clock, jwksUrl: provider.url, issuer: "idp" });
      expect(await tokens.verify(await provider.sign({ iat: now / 1000 }))).toMatchObject({
        org: "o",
        uid: "u",
        issuedAt: now,
      });
      await expect(tokens.verify(await provider.sign({ iss: "other" }))).rejects.toMatchObject({
        code: "unauthorized",
      });
      await expect(tokens.verify(await provider.sign({ aud: "other" }))).rejects.toMatchObject({
        code: "unauthorized",
      });
    },
  );

  test("of Herald's own is taken beside those of a provider", async () => {
    using provider = await startProvider("ES256");
    const tokens = createTokens({ secret, clock, jwksUrl: provider.url, issuer: "idp" });
    const { token } = await tokens.issue(user);
    expect(decodeJwt(token).aud).toBe("herald");
    expect((await tokens.verify(token)).uid).toBe("u");
  });
});
