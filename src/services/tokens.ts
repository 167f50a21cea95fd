import {
  createRemoteJWKSet,
  decodeProtectedHeader,
  type JWTPayload,
  type JWTVerifyOptions,
  jwtVerify,
  SignJWT,
} from "jose";
import { HeraldError } from "../contract/errors.ts";
import { isIdentifier } from "../contract/identifiers.ts";
import type { Clock } from "../lib/clock.ts";

/** Who a token speaks for. Times in milliseconds since the Unix epoch. */
export type Identity = { org: string; uid: string; issuedAt: number; expiresAt: number };

/** Issues and verifies user tokens (JWT, RFC 7519). */
export type Tokens = {
  /** A token that counts as issued after `issuedAfter`, so that a sign-out just before does not refuse it. */
  issue(options: {
    org: string;
    uid: string;
    ttlSeconds: number;
    issuedAfter: number;
  }): Promise<{ token: string; expiresAt: number }>;
  /** Throws `unauthorized` for a token that is not valid now. */
  verify(token: string): Promise<Identity>;
};

type Options = {
  /** The HS256 secret, at least 32 bytes. */
  secret: string;
  /** An identity provider whose tokens are taken too. */
  jwksUrl?: string | undefined;
  issuer?: string | undefined;
  clock: Clock;
};

const audience = "herald";
const skewSeconds = 30;
const providerAlgorithms = ["RS256", "ES256", "EdDSA"];

/**
 * The algorithm is bound to the key: HS256 to Herald's secret, the others to the provider's key set. `none` and keys
 * inside a token are refused (RFC 8725, sections 2.1 and 3.1). `iat` carries milliseconds as a fraction, which
 * RFC 7519, section 2 allows: a sign-out must tell tokens of one second apart.
 */
export function createTokens({ secret, jwksUrl, issuer, clock }: Options): Tokens {
  const ownKey = new TextEncoder().encode(secret);
  const providerKeys = jwksUrl === undefined ? undefined : createRemoteJWKSet(new URL(jwksUrl));
  const common = { audience, typ: "JWT", clockTolerance: skewSeconds, requiredClaims: ["exp", "sub", "org"] };

  async function verifySignature(token: string): Promise<JWTPayload> {
    const options: JWTVerifyOptions = { ...common, currentDate: new Date(clock.now()) };
    if (providerKeys !== undefined && decodeProtectedHeader(token).alg !== "HS256") {
      const { payload } = await jwtVerify(token, providerKeys, {
        ...options,
        algorithms: providerAlgorithms,
        ...(issuer !== undefined && { issuer }),
      });
      return payload;
    }
    const { payload } = await jwtVerify(token, ownKey, { ...options, algorithms: ["HS256"] });
    return payload;
  }

  function toIdentity({ sub, org, iat, exp }: JWTPayload): Identity {
    if (sub === undefined || !isIdentifier(sub)) throw unauthorized("the token's `sub` is not a user id");
    if (typeof org !== "string" || !isIdentifier(org))
      throw unauthorized("the token's `org` is not an organization id");
    // A token from the future would outlive a sign-out of today.
    if ((iat ?? 0) > clock.now() / 1000 + skewSeconds) throw unauthorized("the token's `iat` lies in the future");
    const expiresAt = (exp ?? 0) * 1000;
    if (!Number.isFinite(new Date(expiresAt).getTime())) throw unauthorized("the token's `exp` is out of range");
    return { org, uid: sub, issuedAt: Math.floor((iat ?? 0) * 1000 + 0.5), expiresAt: graceful(expiresAt) };
  }

  /** A token that only the clock skew keeps valid is valid until the skew ends. */
  function graceful(expiresAt: number): number {
    return expiresAt > clock.now() ? expiresAt : expiresAt + skewSeconds * 1000;
  }

  return {
    async issue({ org, uid, ttlSeconds, issuedAfter }) {
      const issuedAt = Math.max(clock.now(), issuedAfter + 1);
      const expiresAt = issuedAt + ttlSeconds * 1000;
      const token = await new SignJWT({ org })
        .setProtectedHeader({ alg: "HS256", typ: "JWT" })
        .setSubject(uid)
        .setAudience(audience)
        .setIssuedAt(issuedAt / 1000)
        .setExpirationTime(expiresAt / 1000)
        .sign(ownKey);
      return { token, expiresAt };
    },
    async verify(token) {
      try {
        return toIdentity(await verifySignature(token));
      } catch (error) {
        if (error instanceof HeraldError) throw error;
        throw unauthorized("the user token is not valid or has expired; get a fresh one", error);
      }
    },
  };
}

function unauthorized(detail: string, cause?: unknown): HeraldError {
  return new HeraldError("unauthorized", detail, { headers: { "WWW-Authenticate": "Bearer" }, cause });
}
