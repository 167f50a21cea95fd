import { expect, test } from "bun:test";
import fc from "fast-check";
import { HeraldArgumentError } from "../errors.ts";
import { issueUserToken } from "./user-token.ts";

const secret = "a secret of at least thirty-two bytes";
const nowMs = Date.parse("2026-11-20T13:06:00.123Z");

const read = (token: string) =>
  token
    .split(".")
    .slice(0, 2)
    .map((part) => JSON.parse(Buffer.from(part, "base64url").toString("utf8")));

test("a token names organization and user, and expires after an hour unless told otherwise", async () => {
  const { token, expires_at } = await issueUserToken({ secret, organization: "o", user: "u", nowMs });
  const [header, claims] = read(token);
  expect(header).toEqual({ alg: "HS256", typ: "JWT" });
  expect(claims).toEqual({
    org: "o",
    sub: "u",
    aud: "herald",
    jti: expect.any(String),
    iat: nowMs / 1000,
    exp: nowMs / 1000 + 3600,
  });
  expect(expires_at).toBe("2026-11-20T14:06:00.123Z");
  const short = await issueUserToken({ secret, organization: "o", user: "u", ttlSeconds: 60, nowMs });
  expect(short.expires_at).toBe("2026-11-20T13:07:00.123Z");
  expect(read(short.token)[1].jti).not.toBe(claims.jti);
});

test("identifiers of any form come back from the token unchanged", async () => {
  const identifier = fc.string({ unit: "grapheme", minLength: 1 });
  await fc.assert(
    fc.asyncProperty(identifier, identifier, async (organization, user) => {
      const { token } = await issueUserToken({ secret, organization, user });
      expect(token).toMatch(/^[\w-]+\.[\w-]+\.[\w-]{43}$/);
      expect(read(token)[1]).toMatchObject({ org: organization, sub: user });
    }),
  );
});

test.each([
  ["a short secret", { secret: "ü".repeat(15) }, "32 bytes"],
  ["no organization", { organization: "" }, "organization and user"],
  ["no user", { user: "" }, "organization and user"],
  ["a lifetime of nothing", { ttlSeconds: 0 }, "positive number of seconds"],
  ["a lifetime that is no number", { ttlSeconds: Number.NaN }, "positive number of seconds"],
])("%s is refused", async (_, changed, message) => {
  const error = await issueUserToken({ secret, organization: "o", user: "u", ...changed }).catch((thrown) => thrown);
  expect(error).toBeInstanceOf(HeraldArgumentError);
  expect(error.message).toContain(message);
});
