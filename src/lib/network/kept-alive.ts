import type { Clock } from "../time/clock.ts";

/** Knows the HTTP connections that addresses keep alive. The runtime tells of requests, not of connections: one is known by its port. */
export type KeptAlive = {
  /** Notes a request, and whether its address keeps more connections alive with that one than `most`; then it should be closed. */
  isOneTooMany(address: string, port: number, most: number): boolean;
  /** How many addresses are known. */
  readonly addresses: number;
};

/** Forgets a connection `keptMs` after its last request, when the runtime has closed it for being idle. */
export function createKeptAlive({ keptMs, clock }: { keptMs: number; clock: Clock }): KeptAlive {
  // Both are in the order of their last requests.
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
