import { resolve } from "node:path";
import { createRequestTemplate, openLanes } from "../harness/clients/lane.ts";
import type { HeraldPeer } from "../harness/herald.ts";
import { startMeter } from "../harness/meter.ts";
import { benchOrg, sendBody } from "../harness/organization.ts";
import type { Contender } from "../harness/report/rounds.ts";
import { spreadOf } from "../harness/report/statistics.ts";
import { shares } from "./sends.ts";

/** How many strangers there are: handshakes that stop half-way, and bodies that trickle in. */
export type Strangers = { halves: number; uploads: number };

const callers = 8;
const pauseMs = 4;
const runFor = 4; // as long as other runs: a p99 needs its samples

/**
 * Measures how long sends take for callers who do not hurry, while strangers hold connections, or with nobody else
 * there.
 */
export function sendsBeside(herald: HeraldPeer, strangers: Strangers | undefined): Contender {
  return {
    name: strangers === undefined ? `${herald.name}-undisturbed` : herald.name,
    async run(ms) {
      const clients = strangers && (await gather(herald, strangers));
      const request = createRequestTemplate(herald.url, "/admin/message", benchOrg.key, sendBody(benchOrg.quiet));
      const lanes = await openLanes(request, callers);
      const times: number[] = [];
      const stopMeter = startMeter(herald.pid);
      const endsAt = performance.now() + ms * runFor;
      await Promise.all(
        lanes.map(async (lane) => {
          while (performance.now() < endsAt) {
            const sentAt = performance.now();
            const status = await new Promise<number>((answered) => lane.send(answered));
            if (status !== 201) throw new Error(`a send was answered ${status}`);
            times.push(performance.now() - sentAt);
            await Bun.sleep(pauseMs);
          }
        }),
      );
      const busy = stopMeter();
      for (const lane of lanes) lane.close();
      await clients?.lift();
      return {
        ...spreadOf(times),
        samples: times.length,
        ...shares(busy),
      };
    },
  };
}

/** Resolves once all strangers are connected. */
async function gather({ url }: HeraldPeer, strangers: Strangers): Promise<{ lift(): Promise<void> }> {
  const { promise: areOpen, resolve: open } = Promise.withResolvers<void>();
  const child = Bun.spawn([process.execPath, resolve(import.meta.dir, "../processes/strangers.ts")], {
    stdio: ["ignore", "inherit", "inherit"],
    ipc: () => open(),
  });
  process.on("exit", () => child.kill("SIGKILL"));
  child.send({ url, key: benchOrg.key, ...strangers });
  await Promise.race([areOpen, child.exited]);
  if (child.exitCode !== null) throw new Error(`the strangers ended with code ${child.exitCode}`);
  return {
    async lift() {
      child.kill("SIGKILL");
      await child.exited;
    },
  };
}
