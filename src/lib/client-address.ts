import { type AddressSet, normalizeAddress } from "./addresses.ts";

/** What knows the other end of a request's connection, such as Bun's server. */
export type Peers = { requestIP(request: Request): { address: string } | null };

/** The address of the client that made a request; empty when its connection is gone already. */
export type ClientAddress = (request: Request, peers: Peers) => string;

/**
 * Reads `X-Forwarded-For` as far as trusted proxies wrote it, from the right: each adds the address that it was called from. What
 * stands left of the first address that is no trusted proxy may be anybody's invention and is not looked at, and so is
 * everything that comes from somewhere else or is no address.
 */
export function createClientAddress(trustedProxies: AddressSet): ClientAddress {
  return (request, peers) => {
    const peer = peers.requestIP(request)?.address ?? "";
    let client = normalizeAddress(peer) ?? peer;
    if (!trustedProxies.has(client)) return client;
    const hops = (request.headers.get("x-forwarded-for") ?? "").split(",").reverse();
    for (const hop of hops) {
      const address = addressOfHop(hop.trim());
      if (address === undefined) break;
      client = address;
      if (!trustedProxies.has(client)) break;
    }
    return client;
  };
}

/** Some proxies add the port: `192.0.2.1:1234`, `[2001:db8::1]:1234`. */
function addressOfHop(hop: string): string | undefined {
  const [, bare] = /^\[([^\]]*)\](?::\d+)?$/.exec(hop) ?? /^([\d.]+):\d+$/.exec(hop) ?? [];
  return normalizeAddress(bare ?? hop);
}
