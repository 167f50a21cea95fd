import type { Clock } from "../time/clock.ts";

/**
 * Tracks the HTTP connections that addresses keep alive. Bun reports requests, not connections, so a connection is
 * identified by its port.
 */
export type KeptAlive = {
  /** Notes a request. Returns whether its connection brings the address above `most`; then it should be closed. */
  isOneTooMany(address: string, port: number, most: number): boolean;
  /** The number of known addresses. */
  readonly addresses: number;
};

/** Creates a tracker that forgets a connection `keptMs` after its last request, by when Bun has closed it as idle. */
export function createKeptAlive({ keptMs, clock }: { keptMs: number; clock: Clock }): KeptAlive {
  // Both maps are in the order of last requests.
  const known = new Map<string, { lastAt: number; ports: Map<number, number> }>();

  function forgetAddresses(before: number): void {
    for (const [address, { lastAt }] of known) {
      if (lastAt >= before) return;
      known.delete(address);
    }
  }

  return {
    isOneTooMany(address, port, most) {
      const now = clock.now();
      const { ports } = known.get(address) ?? { ports: new Map<number, number>() };
      known.delete(address);
      known.set(address, { lastAt: now, ports });
      forgetAddresses(now - keptMs);
      for (const [other, at] of ports) {
        if (at >= now - keptMs) break;
        ports.delete(other);
      }
      ports.delete(port);
      if (ports.size >= most) return true;
      ports.set(port, now);
      return false;
    },
    get addresses() {
      return known.size;
    },
  };
}
