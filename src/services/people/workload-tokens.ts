import { decodeJwt, decodeProtectedHeader, jwtVerify } from "jose";
import { HeraldError, invalidToken } from "../../contract/errors/errors.ts";
import type { RoleTable } from "../../contract/people/roles.ts";
import type { Clock } from "../../lib/time/clock.ts";
import type { Caller } from "../keys/permissions.ts";
import type { Refusals } from "../limits/refusals.ts";
import type { ProviderKeys } from "../sessions/provider-keys.ts";
import { ownKeyHeaders } from "../sessions/tokens.ts";
import { nameIn, rolesOf } from "./claims.ts";
import type { Issuer } from "./issuer.ts";
import { callerOf } from "./principals.ts";

type Options = {
  issuer: Pick<Issuer, "url" | "clientId" | "configuration">;
  keys: ProviderKeys;
  roles: RoleTable;
  refusals: Refusals;
  clock: Clock;
};

const algorithms = ["RS256", "PS256", "ES256", "EdDSA"];
const tokenTypes = ["jwt", "at+jwt", "application/at+jwt"];
const skewSeconds = 30;
const maxCharacters = 16_384;

/** Whether a credential has the form of a token (JWS Compact Serialization), which no API key has. */
export function isToken(credential: string): boolean {
  return /^[\w-]+\.[\w-]+\.[\w-]+$/.test(credential);
}

/** Creates the verification of tokens: those that the provider issued for Herald's client id, and that have not expired. */
export function createWorkloadTokens({ issuer, keys, roles, refusals, clock }: Options) {
  async function verify(token: string): Promise<Caller> {
    const header = decodeProtectedHeader(token);
    if (ownKeyHeaders.some((name) => header[name] !== undefined)) throw invalidToken();
    if (header.typ !== undefined && !tokenTypes.includes(header.typ.toLowerCase())) throw invalidToken();
    const { issuer: name } = (await issuer.configuration()).serverMetadata(); // as it writes itself, perhaps with a `/`
    const { payload } = await jwtVerify(token, keys, {
      issuer: name,
      audience: issuer.clientId,
      algorithms,
      clockTolerance: skewSeconds,
      currentDate: new Date(clock.now()),
      requiredClaims: ["exp", "sub"],
    });
    const { sub = "", exp = 0, iat = 0, nonce, events } = payload;
    // The ID token of somebody who signed in, or a notice of the end of a session: neither is meant to be shown to an API.
    if (nonce !== undefined || events !== undefined || sub === "") throw invalidToken();
    if (iat > clock.now() / 1000 + skewSeconds) throw invalidToken();
    const expiresAt = (exp + skewSeconds) * 1000;
    if (!Number.isFinite(new Date(expiresAt).getTime())) throw invalidToken();
    return callerOf({ subject: sub, name: nameIn(payload), roles: rolesOf(roles, payload), expiresAt });
  }

  return {
    /** Whether a token says that it is of a workload, and not one of a user (which has `org`); `identify` checks that. */
    isOfWorkload(token: string): boolean {
      try {
        const { iss, aud, org } = decodeJwt(token);
        return (
          withoutSlash(iss) === withoutSlash(issuer.url) && [aud].flat().includes(issuer.clientId) && org === undefined
        );
      } catch {
        return false;
      }
    },
    /**
     * Identifies the caller. Throws `unauthorized`, or `rate_limited` instead if too many from that address were refused;
     * `unavailable` if the provider's keys cannot be fetched. Valid tokens are never refused for what others do.
     */
    async identify(token: string, address: string): Promise<Caller> {
      try {
        if (token.length > maxCharacters) throw invalidToken();
        return await verify(token);
      } catch (error) {
        if (error instanceof HeraldError && error.code !== "unauthorized") throw error;
        refusals.admit(address);
        refusals.note(address);
        throw error instanceof HeraldError ? error : invalidToken(error);
      }
    },
  };
}

function withoutSlash(issuer: string | undefined): string | undefined {
  return issuer?.replace(/\/$/, "");
}
