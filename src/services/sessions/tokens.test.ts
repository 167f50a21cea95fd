import { describe, expect, test } from "bun:test";
import { decodeJwt, exportJWK, generateKeyPair, SignJWT } from "jose";
import { createProviderKeys } from "./provider-keys.ts";
import { createTokens } from "./tokens.ts";

const secret = "a secret of at least thirty-two bytes";
const now = 1_795_000_000_123;
const clock = { now: () => now };
const maxSeconds = 3_600;
const user = { org: "o", uid: "u", ttlSeconds: 60, issuedAfter: 0 };

/** An identity provider: its key set, and tokens signed by it. */
async function createProvider(algorithm: "ES256" | "EdDSA" | "RS256") {
  const { privateKey, publicKey } = await generateKeyPair(algorithm, { extractable: true });
  const jwk = { ...(await exportJWK(publicKey)), kid: "k1", alg: algorithm, use: "sig" };
  const keys = createProviderKeys({
    fetchKeySet: async () => JSON.stringify({ keys: [jwk] }),
    clock,
    onError(error) {
      throw error;
    },
    onRecovery: () => undefined,
  });
  const sign = (claims: Record<string, unknown>, header: Record<string, unknown> = {}) =>
    new SignJWT({ sub: "u", org: "o", aud: "herald", iss: "idp", exp: now / 1000 + 60, ...claims })
      .setProtectedHeader({ alg: algorithm, typ: "JWT", kid: "k1", ...header })
      .sign(privateKey);
  return { provider: { keys, issuer: "idp" }, jwk, sign };
}

const unauthorized = { code: "unauthorized" };

describe("a user token", () => {
  test("names its user, and its issue and expiry times to the millisecond", async () => {
    const tokens = createTokens({ secret, maxSeconds, clock });
    const { token, expiresAt } = await tokens.issue(user);
    expect(expiresAt).toBe(now + 60_000);
    expect(await tokens.verify(token)).toEqual({
      org: "o",
      uid: "u",
      issuedAt: now,
      expiresAt,
      tokenId: expect.stringMatching(/^[0-9a-f-]{36}$/),
    });
  });

  test("that is refused names its user and the check, if its signature is valid", async () => {
    const { provider, sign } = await createProvider("ES256");
    const tokens = createTokens({ secret, maxSeconds, clock, provider });
    const other = await createProvider("ES256");
    async function refusedOf(token: string) {
      const refused: object[] = [];
      await expect(tokens.verify(token, (one) => refused.push(one))).rejects.toMatchObject({ code: "unauthorized" });
      return refused;
    }
    const past = { exp: now / 1000 - 60 };
    expect(await refusedOf(await sign(past))).toEqual([{ org: "o", uid: "u", check: "expired" }]);
    for (const claims of [{ aud: "another" }, { iss: "another" }, { exp: now / 1000 + maxSeconds + 60 }])
      expect(await refusedOf(await sign(claims))).toEqual([{ org: "o", uid: "u", check: "claims" }]);
    expect(await refusedOf(await sign({ sub: "" }))).toEqual([]);
    expect(await refusedOf(await other.sign(past))).toEqual([]);
    expect(await refusedOf("no token")).toEqual([]);
  });

  test("counts as issued after a sign-out in the same millisecond", async () => {
    const tokens = createTokens({ secret, maxSeconds, clock });
    const { token } = await tokens.issue({ ...user, issuedAfter: now });
    expect((await tokens.verify(token)).issuedAt).toBe(now + 1);
  });

  test("from the future is refused: a sign-out of today could not end it", async () => {
    const tokens = createTokens({ secret, maxSeconds, clock });
    const early = (seconds: number) =>
      createTokens({ secret, maxSeconds, clock: { now: () => now + seconds * 1000 } }).issue(user);
    await expect(tokens.verify((await early(31)).token)).rejects.toMatchObject({ code: "unauthorized" });
    expect((await tokens.verify((await early(29)).token)).uid).toBe("u");
  });

  test("within the clock skew only is valid until the skew ends, and not longer", async () => {
    const late = (seconds: number) =>
      createTokens({ secret, maxSeconds, clock: { now: () => now + 60_000 + seconds * 1000 } });
    const { token, expiresAt } = await createTokens({ secret, maxSeconds, clock }).issue(user);
    expect((await late(10).verify(token)).expiresAt).toBe(expiresAt + 30_000);
    await expect(late(31).verify(token)).rejects.toMatchObject({ code: "unauthorized" });
  });

  test("lives as long as the limit, and no longer, whoever signed it", async () => {
    const { provider, sign } = await createProvider("ES256");
    const tokens = createTokens({ secret, maxSeconds, clock, provider });
    const iat = now / 1000 - 100;
    const left = now / 1000 + 30; // without `iat`, within the clock skew
    const tooLong = { code: "unauthorized", message: expect.stringContaining("3600 seconds") };
    const long = createTokens({ secret, maxSeconds: Number.POSITIVE_INFINITY, clock, provider });
    for (const good of [{ iat, exp: iat + maxSeconds }, { exp: left + maxSeconds }])
      expect((await tokens.verify(await sign(good))).uid).toBe("u");
    for (const bad of [{ iat, exp: iat + maxSeconds + 1 }, { exp: left + maxSeconds + 1 }]) {
      await expect(tokens.verify(await sign(bad))).rejects.toMatchObject(tooLong);
      expect((await long.verify(await sign(bad))).uid).toBe("u");
    }
    const own = (ttlSeconds: number) => long.issue({ ...user, ttlSeconds });
    expect((await tokens.verify((await own(maxSeconds)).token)).uid).toBe("u");
    await expect(tokens.verify((await own(maxSeconds + 1)).token)).rejects.toMatchObject(tooLong);
  });

  test.each(["ES256", "EdDSA", "RS256"] as const)(
    "of an identity provider is accepted when signed with %s",
    async (algorithm) => {
      const { provider, sign } = await createProvider(algorithm);
      const tokens = createTokens({ secret, maxSeconds, clock, provider });
      expect(await tokens.verify(await sign({ iat: now / 1000 }))).toMatchObject({
        org: "o",
        uid: "u",
        issuedAt: now,
      });
      for (const claims of [
        { iss: "other" },
        { iss: undefined },
        { aud: "other" },
        { exp: undefined },
        { sub: undefined },
      ])
        await expect(tokens.verify(await sign(claims))).rejects.toMatchObject(unauthorized);
      for (const header of [{ typ: undefined }, { typ: "at+jwt" }, { kid: "unknown" }])
        await expect(tokens.verify(await sign({}, header))).rejects.toMatchObject(unauthorized);
    },
  );

  test("of Herald's own is accepted beside those of a provider", async () => {
    const { provider } = await createProvider("ES256");
    const tokens = createTokens({ secret, maxSeconds, clock, provider });
    const { token } = await tokens.issue(user);
    expect(decodeJwt(token).aud).toBe("herald");
    expect((await tokens.verify(token)).uid).toBe("u");
  });

  test("is accepted only with its key's algorithm: a provider's public key is not a secret, nor a secret a public key", async () => {
    const { provider, jwk } = await createProvider("RS256");
    const tokens = createTokens({ secret, maxSeconds, clock, provider });
    const claims = { sub: "u", org: "o", aud: "herald", iss: "idp", exp: now / 1000 + 60 };
    for (const text of [JSON.stringify(jwk), jwk.n ?? "", "k1".padEnd(32)]) {
      const forged = await new SignJWT(claims)
        .setProtectedHeader({ alg: "HS256", typ: "JWT", kid: "k1" })
        .sign(new TextEncoder().encode(text));
      await expect(tokens.verify(forged)).rejects.toMatchObject(unauthorized);
    }
    for (const alg of ["RS384", "PS256"] as const) {
      const { privateKey } = await generateKeyPair(alg);
      const other = await new SignJWT(claims).setProtectedHeader({ alg, typ: "JWT", kid: "k1" }).sign(privateKey);
      await expect(tokens.verify(other)).rejects.toMatchObject(unauthorized);
    }
  });

  test("that brings its own key is refused, even with a valid signature", async () => {
    const { provider, jwk, sign } = await createProvider("ES256");
    const tokens = createTokens({ secret, maxSeconds, clock, provider });
    expect((await tokens.verify(await sign({}))).uid).toBe("u");
    for (const header of [
      { jwk },
      { jku: "https://idp.example/jwks" },
      { x5u: "https://idp.example/x" },
      { x5c: ["x"] },
    ]) {
      await expect(tokens.verify(await sign({}, header))).rejects.toMatchObject(unauthorized);
      const own = await new SignJWT({ sub: "u", org: "o", aud: "herald", exp: now / 1000 + 60 })
        .setProtectedHeader({ alg: "HS256", typ: "JWT", ...header })
        .sign(new TextEncoder().encode(secret));
      await expect(tokens.verify(own)).rejects.toMatchObject(unauthorized);
    }
  });

  test("of the previous secret is accepted while that is configured, and new ones use the new secret", async () => {
    const next = "another secret of thirty-two bytes or more";
    const { token } = await createTokens({ secret, maxSeconds, clock }).issue(user);
    const rotating = createTokens({ secret: next, previousSecret: secret, maxSeconds, clock });
    expect((await rotating.verify(token)).uid).toBe("u");
    const rotated = createTokens({ secret: next, maxSeconds, clock });
    await expect(rotated.verify(token)).rejects.toMatchObject(unauthorized);
    expect((await rotated.verify((await rotating.issue(user)).token)).uid).toBe("u");
    const late = createTokens({ secret: next, previousSecret: secret, maxSeconds, clock: { now: () => now + 91_000 } });
    await expect(late.verify(token)).rejects.toMatchObject(unauthorized);
  });
});
