import {
  decodeProtectedHeader,
  errors,
  type JWTPayload,
  type JWTVerifyOptions,
  jwtVerify,
  type ProtectedHeaderParameters,
  SignJWT,
} from "jose";
import { HeraldError } from "../../contract/errors/errors.ts";
import { isIdentifier } from "../../contract/identifiers.ts";
import { createId } from "../../lib/text/ids.ts";
import type { Clock } from "../../lib/time/clock.ts";
import type { ProviderKeys } from "./provider-keys.ts";

/** The user a token speaks for. Times in milliseconds since the Unix epoch. */
export type Identity = {
  org: string;
  uid: string;
  issuedAt: number;
  expiresAt: number;
  /** The token's `jti`, if it has one that is valid in a path; it can be revoked by that. */
  tokenId?: string | undefined;
};

/** The user of a token that was refused although its signature is valid, and the check that refused it. */
type RefusedUser = Pick<Identity, "org" | "uid"> & { check: "expired" | "claims" };

/** Issues and verifies user tokens (JWT, RFC 7519). */
export type Tokens = ReturnType<typeof createTokens>;

type NewToken = { org: string; uid: string; ttlSeconds: number; issuedAfter: number };

type Options = {
  /** The HS256 secret, at least 32 bytes. */
  secret: string;
  /** The previous secret: it signs no more tokens, but its tokens are still accepted. */
  previousSecret?: string | undefined;
  /** An identity provider whose tokens are also accepted; with `issuer`, only those that name it. */
  provider?: { keys: ProviderKeys; issuer?: string | undefined } | undefined;
  /** The maximum lifetime of a token; longer ones are refused, whoever signed them. */
  maxSeconds: number;
  clock: Clock;
};

const audience = "herald";
const skewSeconds = 30;
const providerAlgorithms = ["RS256", "ES256", "EdDSA"];
/**
 * Header parameters by which a token could bring its own key or say where to get it (RFC 7515, sections 4.1.2, 4.1.3,
 * 4.1.5, 4.1.6).
 */
export const ownKeyHeaders = ["jku", "jwk", "x5u", "x5c"] as const satisfies (keyof ProtectedHeaderParameters)[];

/**
 * Creates tokens. The algorithm is bound to the key: HS256 to Herald's secrets, the others to the provider's key set.
 * `none`, and tokens that bring a key, are refused (RFC 8725, sections 2.1, 3.1 and 3.10). `iat` carries milliseconds
 * as a fraction, which RFC 7519, section 2 allows, as a sign-out must distinguish tokens issued within one second.
 */
export function createTokens({ secret, previousSecret, provider, maxSeconds, clock }: Options) {
  const ownKey = importTokenKey(secret);
  const previousKey = previousSecret === undefined ? undefined : importTokenKey(previousSecret);
  const common = { audience, typ: "JWT", clockTolerance: skewSeconds, requiredClaims: ["exp", "sub", "org"] };

  async function verifySignature(token: string): Promise<JWTPayload> {
    const header = decodeProtectedHeader(token);
    if (ownKeyHeaders.some((name) => header[name] !== undefined))
      throw unauthorized("a token must not contain its own key");
    const options: JWTVerifyOptions = { ...common, currentDate: new Date(clock.now()) };
    if (provider === undefined || header.alg === "HS256") return await verifyOwn(token, options);
    const { payload } = await jwtVerify(token, provider.keys, {
      ...options,
      algorithms: providerAlgorithms,
      ...(provider.issuer !== undefined && { issuer: provider.issuer }),
    });
    return payload;
  }

  async function verifyOwn(token: string, common: JWTVerifyOptions): Promise<JWTPayload> {
    const options = { ...common, algorithms: ["HS256"] };
    try {
      return (await jwtVerify(token, await ownKey, options)).payload;
    } catch (error) {
      if (previousKey === undefined || !(error instanceof errors.JWSSignatureVerificationFailed)) throw error;
      return (await jwtVerify(token, await previousKey, options)).payload;
    }
  }

  function toIdentity({ sub, org, iat, exp, jti }: JWTPayload): Identity {
    if (sub === undefined || !isIdentifier(sub)) throw unauthorized("the token's `sub` is not a user id");
    if (typeof org !== "string" || !isIdentifier(org))
      throw unauthorized("the token's `org` is not an organization id");
    // A token issued in the future would outlive a sign-out of today.
    if ((iat ?? 0) > clock.now() / 1000 + skewSeconds) throw unauthorized("the token's `iat` is in the future");
    const expiresAt = (exp ?? 0) * 1000;
    // Without `iat`, the remaining lifetime counts.
    const lifeMs = iat === undefined ? expiresAt - clock.now() - skewSeconds * 1000 : expiresAt - iat * 1000;
    if (Math.floor(lifeMs) > maxSeconds * 1000)
      throw unauthorized(
        `the token's lifetime exceeds the ${maxSeconds} seconds that this server allows; issue one with a shorter lifetime`,
      );
    if (!Number.isFinite(new Date(expiresAt).getTime())) throw unauthorized("the token's `exp` is out of range");
    return {
      org,
      uid: sub,
      issuedAt: Math.floor((iat ?? 0) * 1000 + 0.5),
      expiresAt: graceful(expiresAt),
      tokenId: typeof jti === "string" && isIdentifier(jti) ? jti : undefined,
    };
  }

  /** An expired token that the clock skew still allows is valid until the skew ends. */
  function graceful(expiresAt: number): number {
    return expiresAt > clock.now() ? expiresAt : expiresAt + skewSeconds * 1000;
  }

  return {
    /** Issues a token that counts as issued after `issuedAfter`, so that a sign-out just before does not refuse it. */
    async issue({ org, uid, ttlSeconds, issuedAfter }: NewToken): Promise<{ token: string; expiresAt: number }> {
      const issuedAt = Math.max(clock.now(), issuedAfter + 1);
      const expiresAt = issuedAt + ttlSeconds * 1000;
      const token = await new SignJWT({ org })
        .setProtectedHeader({ alg: "HS256", typ: "JWT" })
        .setSubject(uid)
        .setAudience(audience)
        .setJti(createId())
        .setIssuedAt(issuedAt / 1000)
        .setExpirationTime(expiresAt / 1000)
        .sign(await ownKey);
      return { token, expiresAt };
    },
    /**
     * Throws `unauthorized` if the token is not valid now, `unavailable` if the provider's keys cannot be fetched. Calls `onRefused` first
     * if the signature is valid all the same, so that the token proves to be the user's.
     */
    async verify(token: string, onRefused: (user: RefusedUser) => void = () => undefined): Promise<Identity> {
      let payload: JWTPayload | undefined;
      try {
        payload = await verifySignature(token);
        return toIdentity(payload);
      } catch (error) {
        const refused = refusedUser(payload, error);
        if (refused !== undefined) onRefused(refused);
        if (error instanceof HeraldError) throw error;
        throw unauthorized("the user token is invalid or has expired; get a fresh one", error);
      }
    },
  };
}

/** The user of a token that was refused for `error`; `payload` is defined if all but the claims that Herald reads was valid. */
function refusedUser(payload: JWTPayload | undefined, error: unknown): RefusedUser | undefined {
  const isExpired = error instanceof errors.JWTExpired;
  // jose checks the claims once the signature is verified.
  const signed = isExpired || error instanceof errors.JWTClaimValidationFailed ? error.payload : payload;
  if (typeof signed?.sub !== "string" || typeof signed.org !== "string") return undefined;
  if (!isIdentifier(signed.sub) || !isIdentifier(signed.org)) return undefined;
  return { org: signed.org, uid: signed.sub, check: isExpired ? "expired" : "claims" };
}

/**
 * Imports the secret as a key for HS256 (RFC 7518, section 3.2). Given bytes, jose would import them for each token.
 */
export function importTokenKey(secret: string): Promise<CryptoKey> {
  const hmac = { name: "HMAC", hash: "SHA-256" };
  return crypto.subtle.importKey("raw", new TextEncoder().encode(secret), hmac, false, ["sign", "verify"]);
}

function unauthorized(detail: string, cause?: unknown): HeraldError {
  return new HeraldError("unauthorized", detail, { headers: { "WWW-Authenticate": "Bearer" }, cause });
}
