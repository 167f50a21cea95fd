import { resolve } from "node:path";
import { startMeter } from "../harness/meter.ts";
import type { Contender } from "../harness/report/rounds.ts";
import { spreadOf } from "../harness/report/statistics.ts";
import type { Peer } from "../harness/servers.ts";
import { shares, startLoad } from "./sends.ts";

/** A process that requests `/healthz` every millisecond and reports how long each request took. */
export type Probe = { ask(url: string, ms: number): Promise<number[]>; stop(): void };

/** Starts the probe, which is idle until asked. */
export function startProbe(): Probe {
  let heard: ((times: number[]) => void) | undefined;
  const child = Bun.spawn([process.execPath, resolve(import.meta.dir, "../processes/probe.ts")], {
    stdio: ["ignore", "inherit", "inherit"],
    ipc: (times: number[]) => heard?.(times),
  });
  process.on("exit", () => child.kill("SIGKILL"));
  return {
    ask(url, ms) {
      const { promise, resolve: settle } = Promise.withResolvers<number[]>();
      heard = settle;
      child.send({ url, ms });
      return promise;
    },
    stop: () => child.kill(),
  };
}

/**
 * Measures how long the server keeps another request waiting while `callers` callers send; without callers, on an idle
 * server.
 */
export function pausesOf(peer: Peer, probe: Probe, callers: number): Contender {
  return {
    name: callers === 0 ? `${peer.name}-idle` : peer.name,
    async run(ms) {
      const load = callers === 0 ? undefined : await startLoad(peer, callers);
      const stopMeter = startMeter(peer.pid);
      const before = load?.count() ?? 0;
      const times = await probe.ask(peer.url, ms);
      const busy = stopMeter();
      const count = (load?.count() ?? 0) - before;
      await load?.stop();
      return {
        ...spreadOf(times),
        samples: times.length,
        sendsPerSecond: (count * 1000) / busy.elapsedMs,
        ...shares(busy),
      };
    },
  };
}
