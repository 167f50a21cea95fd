import { type JWTPayload, SignJWT } from "jose";
import { TEST_TOKEN_SECRET } from "./herald.ts";

/** Claims of a valid token for a user, to be altered one by one. */
export function goodClaims(org: string, uid: string): JWTPayload {
  const now = Math.floor(Date.now() / 1000);
  return { sub: uid, org, aud: "herald", iat: now, exp: now + 600 };
}

/** Signs claims like a caller who knows `HERALD_TOKEN_SECRET`. A claim of `undefined` is omitted. */
export function signToken(
  claims: JWTPayload,
  header: Record<string, unknown> = {},
  secret: string = TEST_TOKEN_SECRET,
): Promise<string> {
  const given = Object.fromEntries(Object.entries(claims).filter(([, value]) => value !== undefined));
  return new SignJWT(given)
    .setProtectedHeader({ alg: "HS256", typ: "JWT", ...header })
    .sign(new TextEncoder().encode(secret));
}

/** An unsigned token with any header and claims. */
export function unsignedToken(header: object, claims: object, signature = ""): string {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
  return `${part(header)}.${part(claims)}.${signature}`;
}
