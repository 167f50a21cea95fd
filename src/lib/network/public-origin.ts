import { type AddressSet, normalizeAddress } from "./addresses.ts";
import type { Peers } from "./client-address.ts";

/** Where the client of a request reached the server, such as `https://chat.example.org`; `undefined` if the request does not tell. */
export type PublicOrigin = (request: Request, peers: Peers) => string | undefined;

const authority = /^(?:[a-z\d._-]+|\[[\da-f:.]+\])(?::\d{1,5})?$/i;

/**
 * Creates a reader of where clients reach the server: the `Host` of their request and, from trusted proxies only, `X-Forwarded-Host`
 * and `X-Forwarded-Proto`. A proxy that is not declared may end TLS, too: a page of `https` could not have asked otherwise.
 */
export function createPublicOrigin(trustedProxies: AddressSet): PublicOrigin {
  return (request, peers) => {
    const { headers, url } = request;
    const peer = peers.requestIP(request)?.address ?? "";
    const isTrusted = trustedProxies.has(normalizeAddress(peer) ?? peer);
    const told = (name: string) => (isTrusted ? headers.get(name)?.split(",")[0]?.trim().toLowerCase() : undefined);
    const host = told("x-forwarded-host") ?? headers.get("host") ?? "";
    if (!authority.test(host)) return undefined;
    const proto = told("x-forwarded-proto");
    const isSecure =
      proto === undefined
        ? url.startsWith("https:") || headers.get("origin")?.startsWith("https:") === true
        : proto === "https" || proto === "wss";
    return `${isSecure ? "https" : "http"}://${host}`;
  };
}
