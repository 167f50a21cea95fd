import type { Logger } from "pino";
import { type OutageEvents, tellOutages } from "../lib/observing/outages.ts";
import { createRetention } from "../services/retention.ts";

const everyMs = 60_000;
const skewExplanation =
  "the clocks of this node and the database differ by more than a minute; until they agree, this node removes no expired data";

type Dependencies = Omit<Parameters<typeof createRetention>[0], "onSkew"> & {
  log: Logger;
  outages: OutageEvents;
};

/** Removes expired data, now and every minute. */
export function startRetention({ log, outages, ...dependencies }: Dependencies): { stop(): Promise<void> } {
  const retention = createRetention({
    ...dependencies,
    onSkew: (skewMs) => log.warn({ node_ahead_ms: skewMs }, skewExplanation),
  });
  const removeOld = tellOutages(async () => {
    const rows = await retention.run();
    if (rows > 0) log.info({ rows }, "removed expired data");
  }, outages);
  void removeOld();
  const timer = setInterval(() => void removeOld(), everyMs);
  return {
    async stop() {
      clearInterval(timer);
      await retention.stop();
    },
  };
}
