import { type AddressSet, normalizeAddress } from "./addresses.ts";

/** Knows the remote address of a request's connection, as Bun's server does. */
export type Peers = { requestIP(request: Request): { address: string; port?: number } | null };

/** The address of the client that made a request; empty if its connection is already gone. */
export type ClientAddress = (request: Request, peers: Peers) => string;

type Peer = { client: string; isTrusted: boolean };

// Results are cached, as clients call repeatedly, and parsing an address costs more than everything else here.
const maxRemembered = 1_000;
// Looking for a header costs a third of a microsecond: all of the first requests are checked, later only one in so
// many.
const alwaysLooked = 1_000;
const lookedThen = 64;

/**
 * Creates a reader of `X-Forwarded-For` that trusts only what trusted proxies wrote, from the right: each appends the
 * address that it was called from. Entries to the left of the first untrusted address may be invented and are ignored,
 * as are headers of other peers and entries that are not addresses. Calls `onUndeclared` once, for the first request
 * from an untrusted address that names a client (`X-Forwarded-For`, or `Forwarded` of RFC 7239).
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

/** Some proxies append the port: `192.0.2.1:1234`, `[2001:db8::1]:1234`. */
function addressOfHop(hop: string): string | undefined {
  const [, bare] = /^\[([^\]]*)\](?::\d+)?$/.exec(hop) ?? /^([\d.]+):\d+$/.exec(hop) ?? [];
  return normalizeAddress(bare ?? hop);
}
