import { describe, expect, test } from "bun:test";
import { createHmac, generateKeyPairSync, sign } from "node:crypto";
import { expectClosed, openSocket } from "../../harness/clients/socket.ts";
import { requestSse } from "../../harness/clients/sse.ts";
import { expectProblem } from "../../harness/reading/expectations.ts";
import { TEST_TOKEN_SECRET, useHerald } from "../../harness/servers/herald.ts";
import { createOrganization } from "../../harness/servers/organization.ts";
import { goodClaims, signToken, unsignedToken } from "../../harness/servers/tokens.ts";

const herald = useHerald({ env: { HERALD_TOKEN_SECRET: TEST_TOKEN_SECRET } });

/** Expects that a token opens nothing: by a frame, on the upgrade, or as a stream. */
async function expectRefused(name: string, token: string): Promise<void> {
  using byFrame = await openSocket(herald().url, { uid: name });
  const response = await byFrame.request("connect", { token });
  expect({ name, error: response.error }).toEqual({
    name,
    error: { status: 401, code: "unauthorized", message: expect.any(String) },
  });
  await expectClosed(byFrame, 4401);
  // A header cannot carry every text; those it can carry are tried there, too.
  if (!/^[\x21-\x7e]+$/.test(token)) return;
  using byHeader = await openSocket(herald().url, { headers: { Authorization: `Bearer ${token}` }, uid: name });
  await expectClosed(byHeader, 4401);
  const answer = await requestSse(herald().url, { Authorization: `Bearer ${token}` }, name);
  if ("sse" in answer) throw new Error(`a stream was granted for ${name}`);
  expectProblem(answer.refused, 401, "unauthorized");
}

describe("a user token is refused, with a 401 and the close code 4401,", () => {
  test("if its claims are not those of a current user of this service", async () => {
    const org = await createOrganization(herald());
    await org.user("alice");
    const good = goodClaims(org.id, "alice");
    const now = Math.floor(Date.now() / 1000);
    using socket = await openSocket(herald().url, { uid: "alice" });
    expect((await socket.request("connect", { token: await signToken(good) })).success).toBe(true);
    const spoilt: Record<string, object> = {
      "an audience of another service": { aud: "other" },
      "no audience": { aud: undefined },
      "an expiry in the past, beyond the clock skew": { exp: now - 90 },
      "no expiry": { exp: undefined },
      "an expiry that is text": { exp: String(now + 600) },
      "no sub": { sub: undefined },
      "an empty sub": { sub: "" },
      "a sub that is too long": { sub: "x".repeat(129) },
      "a sub with a control character": { sub: "a\u0000b" },
      "a sub that is a number": { sub: 1 },
      "no org": { org: undefined },
      "an org that is a number": { org: 1 },
      "an org that is not there": { org: "nowhere" },
      "a time before which it is not valid": { nbf: now + 600 },
    };
    for (const [name, change] of Object.entries(spoilt))
      await expectRefused(name, await signToken({ ...good, ...change } as typeof good));
  });

  test("if it is not signed with the expected key and algorithm", async () => {
    const org = await createOrganization(herald());
    await org.user("alice");
    const good = goodClaims(org.id, "alice");
    const token = await signToken(good);
    const [header = "", claims = "", signature = ""] = token.split(".");
    const rsa = generateKeyPairSync("rsa", { modulusLength: 2048 });
    const jwk = rsa.publicKey.export({ format: "jwk" });
    const rsaSigned = (head: object) => {
      const input = unsignedToken(head, good).slice(0, -1);
      return `${input}.${sign("sha256", Buffer.from(input), rsa.privateKey).toString("base64url")}`;
    };
    const hmacOf = (input: string, secret: string | Buffer, hash = "sha256") =>
      createHmac(hash, secret).update(input).digest("base64url");
    const forged = unsignedToken({ alg: "HS256", typ: "JWT" }, { ...good, sub: "admin" }).slice(0, -1);
    const tokens: Record<string, string> = {
      "signed with another secret": await signToken(good, {}, "another-secret-0123456789abcdefghijklmnopqrstuvwxyz"),
      "signed with an empty secret": `${forged}.${hmacOf(forged, "")}`,
      "alg none": unsignedToken({ alg: "none", typ: "JWT" }, good),
      "alg None": unsignedToken({ alg: "None", typ: "JWT" }, good),
      "alg none with a signature": unsignedToken({ alg: "none", typ: "JWT" }, good, signature),
      "no alg": unsignedToken({ typ: "JWT" }, good, signature),
      "another algorithm of the same secret": await signToken(good, { alg: "HS384" }),
      "a public key of its own": rsaSigned({ alg: "RS256", typ: "JWT", jwk }),
      "a key at an address of its own": rsaSigned({
        alg: "RS256",
        typ: "JWT",
        jku: "http://127.0.0.1:1/jwks",
        kid: "1",
      }),
      "a public key taken for a secret": `${forged}.${hmacOf(forged, rsa.publicKey.export({ format: "pem", type: "spki" }))}`,
      "a critical extension": await signToken(good, { crit: ["x"], x: 1 }).catch(() => "a.b.c"),
      "claims that were changed": `${header}.${Buffer.from(JSON.stringify({ ...good, sub: "bob" })).toString("base64url")}.${signature}`,
      "a signature cut short": token.slice(0, -4),
      "no signature": `${header}.${claims}.`,
      "two parts": `${header}.${claims}`,
      "four parts": `${token}.x`,
      nonsense: "nonsense",
      dots: "..",
      "long nonsense": "x".repeat(7_000),
    };
    for (const [name, bad] of Object.entries(tokens)) await expectRefused(name, bad);
  });

  test("if it is of another kind: empty text, an object, nothing, an API key", async () => {
    await createOrganization(herald());
    for (const [token, status] of [
      ["", 422],
      [" ", 401],
      [herald().key, 401],
    ] as const) {
      using socket = await openSocket(herald().url, { uid: "somebody" });
      const response = await socket.request("connect", { token });
      expect(response.error?.status).toBe(status);
    }
    for (const payload of [{}, { token: null }, { token: {} }, { token: 1 }, null, [], "x"]) {
      using socket = await openSocket(herald().url, { uid: "somebody" });
      const response = await socket.request("connect", payload);
      expect(response.error?.status).toBe(422);
    }
    for (const value of ["Bearer", "Bearer ", "Basic YTpi", "Token x", ""]) {
      const answer = await requestSse(herald().url, { Authorization: value });
      if ("sse" in answer) throw new Error("a stream was granted");
      expectProblem(answer.refused, 401, "unauthorized");
    }
    const answer = await requestSse(herald().url, {});
    if ("sse" in answer) throw new Error("a stream was granted");
    expectProblem(answer.refused, 401, "unauthorized");
  });

  test("if it was signed by a server with another secret", async () => {
    const org = await createOrganization(herald());
    await org.user("alice");
    const issued = await org.token("alice");
    const tampered = issued.replace(/\.[^.]+$/, `.${Buffer.alloc(32, 7).toString("base64url")}`);
    await expectRefused("tampered", tampered);
  });
});
