import { HeraldError } from "../../contract/errors/errors.ts";
import { bearerToken } from "../../lib/network/bearer.ts";
import type { PublicOrigin } from "../../lib/network/public-origin.ts";
import type { Authentication } from "../../services/keys/authentication.ts";
import type { Caller } from "../../services/keys/permissions.ts";
import type { People } from "../../services/people/people.ts";
import { isToken } from "../../services/people/workload-tokens.ts";
import type { Call } from "../calls.ts";
import { isTooLongToDrop } from "../requests/body.ts";
import { sessionCookie } from "./cookies.ts";

/** What tells callers apart. */
export type CallerParts = {
  authentication: Authentication;
  /** Identifies those whom an OpenID provider vouches for, if there is one. */
  people?: People | undefined;
  /** Where clients reach the server: pages of that origin only may use the session of their reader. */
  publicOriginOf?: PublicOrigin | undefined;
};

type Asked = {
  request: Request;
  call: Call;
  address: string;
  /** Whether the key may also come as `Authorization: Bearer`; a session then may not. */
  takesBearer?: boolean;
};

const foreignOrigin =
  "the session of a person in the console works for pages of this server only; programs use an API key or a token";
const readingMethods = new Set(["GET", "HEAD"]);

/**
 * Creates the function that identifies who makes a request: by its key, or else its token of the OpenID provider, or else the session
 * in its cookie. Throws and rejects like `authenticate` of keys, and with `origin_forbidden`.
 */
export function createCallerReader({ authentication, people, publicOriginOf }: CallerParts) {
  /**
   * Throws `origin_forbidden` unless a page of this server makes the request (Fetch Metadata, section 2.3; RFC 6265bis, section 8.8.1):
   * the browser adds the cookie, whoever asks.
   */
  function requireOwnOrigin({ request, call }: Asked): void {
    const { headers, method } = request;
    const site = headers.get("sec-fetch-site");
    const isReading = readingMethods.has(method);
    if (site === "same-origin" || (site === "none" && isReading)) return;
    const origin = headers.get("origin");
    if (site === null && (origin === null ? isReading : origin === publicOriginOf?.(request, call.from))) return;
    throw new HeraldError("origin_forbidden", foreignOrigin);
  }

  return (asked: Asked): Caller | Promise<Caller> => {
    const { request, call, address, takesBearer = false } = asked;
    const { headers } = request;
    const hasLongBody = isTooLongToDrop(call.bodyBytes);
    const key = headers.get("admin-api-key");
    const bearer = key === null ? bearerToken(headers) : undefined;
    if (people !== undefined && key === null) {
      if (bearer !== undefined && isToken(bearer)) return people.workloadTokens.identify(bearer, address);
      const secret = headers.has("authorization") || takesBearer ? undefined : sessionCookie.read(headers);
      if (secret !== undefined) {
        requireOwnOrigin(asked);
        return people.sessions.identify(secret, address, hasLongBody);
      }
    }
    return authentication.authenticate(key ?? (takesBearer ? (bearer ?? null) : null), address, hasLongBody);
  };
}
