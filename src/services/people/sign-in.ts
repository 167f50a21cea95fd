import { hkdfSync } from "node:crypto";
import { EncryptJWT, jwtDecrypt } from "jose";
import * as openid from "openid-client";
import { z } from "zod";
import { HeraldError } from "../../contract/errors/errors.ts";
import type { RoleTable } from "../../contract/people/roles.ts";
import { rootCauseOf } from "../../lib/observing/root-cause.ts";
import type { Clock } from "../../lib/time/clock.ts";
import type { Refusals } from "../limits/refusals.ts";
import { type Claims, claimedValues, nameIn, rolesOf } from "./claims.ts";
import type { Issuer } from "./issuer.ts";
import { SignInError, type Visitor } from "./visitors.ts";

type Options = {
  issuer: Issuer;
  roles: RoleTable;
  /** The server's secret, the same on every node. */
  secret: string;
  refusals: Refusals;
  clock: Clock;
  /** Called with the reason of each failure that is not of the person's making, or may not be. */
  onFailure(reason: string): void;
};

const mayTakeMs = 10 * 60_000;
const sealed = z.strictObject({
  state: z.string(),
  nonce: z.string(),
  verifier: z.string(),
  redirectUri: z.string(),
  to: z.string(),
  exp: z.int(),
});
const begunElsewhere = "this sign-in was begun in another browser, has taken more than ten minutes, or was used before";

/**
 * Creates sign-ins by the authorization code flow with PKCE (RFC 9700, section 2.1.1). What one has to remember until the person
 * comes back is sealed in a cookie of that browser, so that strangers make the server store nothing, any node goes on with it, and
 * an answer that another browser has asked for is refused.
 */
export function createSignIn({ issuer, roles, secret, refusals, clock, onFailure }: Options) {
  const key = new Uint8Array(hkdfSync("sha256", secret, "", "herald sign-in of people", 32));

  async function seal(content: Omit<z.output<typeof sealed>, "exp">): Promise<string> {
    return await new EncryptJWT(content)
      .setProtectedHeader({ alg: "dir", enc: "A256GCM" })
      .setExpirationTime(Math.ceil((clock.now() + mayTakeMs) / 1000))
      .encrypt(key);
  }

  async function unseal(text: string): Promise<z.output<typeof sealed> | undefined> {
    try {
      const { payload } = await jwtDecrypt(text, key, {
        keyManagementAlgorithms: ["dir"],
        contentEncryptionAlgorithms: ["A256GCM"],
        currentDate: new Date(clock.now()),
        requiredClaims: ["exp"],
      });
      return sealed.parse(payload);
    } catch {
      return undefined; // another secret, too old, or tampered with
    }
  }

  /** Asks for the claims that give roles, as far as the provider has scopes of their names. */
  function scopesFor(configuration: openid.Configuration): string {
    const { scopes_supported: supported = [] } = configuration.serverMetadata();
    return [
      ...new Set(["openid", "profile", "email", ...Object.keys(roles).filter((name) => supported.includes(name))]),
    ].join(" ");
  }

  /** The claims of the ID token and, if it lacks some that could give roles, those that the provider tells on request. */
  async function claimsOf(
    configuration: openid.Configuration,
    tokens: Awaited<ReturnType<typeof openid.authorizationCodeGrant>>,
  ): Promise<Claims & { sub: string }> {
    const claims = tokens.claims();
    if (claims === undefined) throw new SignInError("the provider sent no ID token");
    const isComplete = Object.keys(roles).every((name) => claimedValues(roles, claims)[name]?.length !== 0);
    if (isComplete || configuration.serverMetadata().userinfo_endpoint === undefined) return claims;
    const more = await openid.fetchUserInfo(configuration, tokens.access_token, claims.sub);
    return { ...more, ...claims };
  }

  return {
    /** Where the browser goes to sign in, and what it has to bring back in a cookie. Throws `unavailable`. */
    async begin({ redirectUri, to }: { redirectUri: string; to: string }) {
      const configuration = await issuer.configuration();
      const state = openid.randomState();
      const nonce = openid.randomNonce();
      const verifier = openid.randomPKCECodeVerifier();
      const location = openid.buildAuthorizationUrl(configuration, {
        redirect_uri: redirectUri,
        scope: scopesFor(configuration),
        state,
        nonce,
        code_challenge: await openid.calculatePKCECodeChallenge(verifier),
        code_challenge_method: "S256",
      });
      const cookie = await seal({ state, nonce, verifier, redirectUri, to });
      return { location: location.href, state, cookie, lifetimeSeconds: mayTakeMs / 1000 };
    },
    /**
     * Who came back, with the query of the address and the cookie that `begin` gave for its `state`. Throws `SignInError`, and
     * `rate_limited` if there were too many of them from that address; `unavailable`.
     */
    async finish(query: string, cookie: string | undefined, address: string): Promise<Visitor> {
      try {
        const begun = cookie === undefined ? undefined : await unseal(cookie);
        if (begun === undefined || begun.state !== new URLSearchParams(query).get("state"))
          throw new SignInError(begunElsewhere);
        const { state, nonce, verifier, redirectUri, to } = begun;
        const configuration = await issuer.configuration();
        const tokens = await openid.authorizationCodeGrant(configuration, new URL(redirectUri + query), {
          expectedState: state,
          expectedNonce: nonce,
          pkceCodeVerifier: verifier,
          idTokenExpected: true,
        });
        const claims = await claimsOf(configuration, tokens);
        const claimed = claimedValues(roles, claims);
        return { subject: claims.sub, name: nameIn(claims), roles: rolesOf(roles, claims), claimed, to };
      } catch (error) {
        if (error instanceof HeraldError) throw error;
        refusals.admit(address);
        refusals.note(address);
        if (error instanceof SignInError) throw error;
        onFailure(reasonOf(error));
        throw refusedBy(error);
      }
    },
  };
}

/** The error for an answer of the provider that is a refusal, or that is not as it must be. */
function refusedBy(cause: unknown): SignInError {
  const code = cause instanceof openid.AuthorizationResponseError ? cause.error : undefined;
  if (code !== undefined) return new SignInError("the OpenID provider has not signed you in", { cause, code });
  return new SignInError("the answer of the OpenID provider is not valid for this sign-in", { cause });
}

/** Why a sign-in failed, for the operator. */
function reasonOf(error: unknown): string {
  if (error instanceof openid.ResponseBodyError || error instanceof openid.AuthorizationResponseError)
    return [error.error, error.error_description].filter((text) => text !== undefined).join(": ");
  // RFC 6749, section 5.2: so a provider answers a client that it does not accept.
  if (error instanceof openid.WWWAuthenticateChallengeError)
    return "invalid_client: the provider does not accept the client id or the client secret";
  return rootCauseOf(error);
}
