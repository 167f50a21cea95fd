import type { Config } from "../config.ts";
import { networkOf } from "../lib/network/addresses.ts";
import type { ClientAddress, Peers } from "../lib/network/client-address.ts";
import { createKeptAlive } from "../lib/network/kept-alive.ts";
import { steadyClock } from "../lib/time/clock.ts";

const closedLateMs = 5_000; // Bun checks idle connections every four seconds

type Dependencies = {
  config: Config;
  clientAddress: ClientAddress;
  /** The number of an address's sockets and streams. */
  countOfAddress(address: string): number;
};

/**
 * Creates the function that tells whether a request's address keeps more connections alive than allowed, including its
 * sockets and streams.
 */
export function createCrowds({ config, clientAddress, countOfAddress }: Dependencies) {
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
