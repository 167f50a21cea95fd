import { type AddressSet, normalizeAddress } from "./addresses.ts";

/** What knows the other end of a request's connection, such as Bun's server. */
export type Peers = { requestIP(request: Request): { address: string; port?: number } | null };

/** The address of the client that made a request; empty when its connection is gone already. */
export type ClientAddress = (request: Request, peers: Peers) => string;

type Peer = { client: string; isTrusted: boolean };

// Clients call again and again, and reading an address costs more than all else here.
const maxRemembered = 1_000;
// A header costs a third of a microsecond to look for: each of the first requests is looked at, and later one in so many.
const alwaysLooked = 1_000;
const lookedThen = 64;

/**
 * Reads `X-Forwarded-For` as far as trusted proxies wrote it, from the right: each adds the address that it was called from. What
 * stands left of the first address that is no trusted proxy may be anybody's invention and is not looked at, and so is
 * everything that comes from somewhere else or is no address. `onUndeclared` is called once, for the first request that names a
 * client (`X-Forwarded-For`, or `Forwarded` of RFC 7239) and comes from an address that is not trusted.
 */
export function createClientAddress(
  trustedProxies: AddressSet,
  onUndeclared: (address: string) => void = () => undefined,
): ClientAddress {
  const remembered = new Map<string, Peer>();
  let looked = 0;
  let hasTold = false;

  function lookForProxy({ headers }: Request, address: string): void {
    if (looked++ > alwaysLooked && looked % lookedThen !== 0) return;
    hasTold = headers.has("x-forwarded-for") || headers.has("forwarded");
    if (hasTold) onUndeclared(address);
  }

  function peerOf(address: string): Peer {
    let peer = remembered.get(address);
    if (peer === undefined) {
      const client = normalizeAddress(address) ?? address;
      peer = { client, isTrusted: trustedProxies.has(client) };
      if (remembered.size >= maxRemembered) remembered.clear();
      remembered.set(address, peer);
    }
    return peer;
  }

  return (request, peers) => {
    const peer = peerOf(peers.requestIP(request)?.address ?? "");
    let { client } = peer;
    if (!peer.isTrusted) {
      if (!hasTold) lookForProxy(request, client);
      return client;
    }
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
