import { HeraldArgumentError } from "../errors.ts";
import type { UserToken } from "../types.ts";
import { createUuid } from "../uuid.ts";

/** Whom a token is for, and what signs it. */
export type UserTokenFields = {
  /** The server's `HERALD_TOKEN_SECRET`, at least 32 bytes. Whoever has it can speak for every user: keep it on servers. */
  secret: string;

  /** The organization of the user. */
  organization: string;

  /** The user. */
  user: string;
  /** How long the token is valid, in seconds (default 1 h). The server refuses more than it allows (30 days by default). */
  ttlSeconds?: number | undefined;
  /** Now, in milliseconds since the Unix epoch (default: the clock, which may differ from the server's by 30 s). */
  nowMs?: number | undefined;
};

const minSecretBytes = 32;
const defaultTtlSeconds = 3600;

/**
 * Issues a user token without calling the server: a JWT like those of `createToken`, signed with HS256 by WebCrypto. Rejects with
 * `HeraldArgumentError`. An unknown user is created when the token is used, in an organization that must exist.
 */
export async function issueUserToken({
  secret,
  organization,
  user,
  ttlSeconds = defaultTtlSeconds,
  nowMs = Date.now(),
}: UserTokenFields): Promise<UserToken> {
  const bytes = new TextEncoder().encode(secret);
  if (bytes.length < minSecretBytes)
    throw new HeraldArgumentError("secret must be the HERALD_TOKEN_SECRET of the server, of 32 bytes or more.");
  if (organization === "" || user === "")
    throw new HeraldArgumentError("organization and user must be identifiers of at least one character.");
  if (!Number.isFinite(ttlSeconds) || ttlSeconds <= 0)
    throw new HeraldArgumentError(`ttlSeconds must be a positive number of seconds, not ${ttlSeconds}.`);
  const expiresAtMs = nowMs + ttlSeconds * 1000;
  // Fractions of a second, as a sign-out must distinguish tokens issued within one second (RFC 7519, section 2 allows them).
  const claims = {
    org: organization,
    sub: user,
    aud: "herald",
    jti: createUuid(nowMs),
    iat: nowMs / 1000,
    exp: expiresAtMs / 1000,
  };
  const signed = `${encodeJson({ alg: "HS256", typ: "JWT" })}.${encodeJson(claims)}`;
  const key = await crypto.subtle.importKey("raw", bytes, { name: "HMAC", hash: "SHA-256" }, false, ["sign"]);
  const signature = await crypto.subtle.sign("HMAC", key, new TextEncoder().encode(signed));
  return {
    token: `${signed}.${encodeBase64Url(new Uint8Array(signature))}`,
    expires_at: new Date(expiresAtMs).toISOString(),
  };
}

function encodeJson(value: object): string {
  return encodeBase64Url(new TextEncoder().encode(JSON.stringify(value)));
}

/** Base64url without padding (RFC 7515, section 2). */
function encodeBase64Url(bytes: Uint8Array): string {
  const text = Array.from(bytes, (byte) => String.fromCharCode(byte)).join("");
  return btoa(text).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}
