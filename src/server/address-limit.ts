import { networkOf } from "../lib/network/addresses.ts";
import type { Peers } from "../lib/network/client-address.ts";
import { createKeptAlive } from "../lib/network/kept-alive.ts";
import type { Context } from "./context.ts";
import type { Gateway } from "./gateway.ts";

const closedLateMs = 5_000; // Bun checks idle connections every four seconds

/**
 * Creates the function that checks whether a request's address keeps more connections alive than allowed, sockets and streams
 * included.
 */
export function createAddressLimit({ config, clientAddress, steadyClock }: Context, { countOfAddress }: Gateway) {
  const mostOfAddress = config.HERALD_LIMIT_CONNECTIONS_PER_ADDRESS;
  const keptMs = config.HERALD_LIMIT_IDLE_SECONDS * 1000 + closedLateMs;
  const keptAlive = createKeptAlive({ keptMs, clock: steadyClock });
  return (request: Request, peers: Peers): boolean => {
    if (mostOfAddress === Number.POSITIVE_INFINITY) return false;
    const address = networkOf(clientAddress(request, peers));
    const port = peers.requestIP(request)?.port ?? 0;
    return keptAlive.isOneTooMany(address, port, mostOfAddress - countOfAddress(address));
  };
}
