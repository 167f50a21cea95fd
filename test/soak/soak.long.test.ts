import { expect, setDefaultTimeout, test } from "bun:test";
import { createRandom } from "../harness/random.ts";
import { runSoak } from "./run-soak.ts";

setDefaultTimeout(180_000);

test("clients of a cluster that is disturbed all the time miss nothing, hear nothing twice, and show what is stored", async () => {
  const { seed } = createRandom();
  const options = {
    clients: 40,
    processes: 2,
    pages: 2,
    nodes: 2,
    deliveriesPerSecond: 400,
    everyMs: 1_500,
    longestMs: 3_000,
  };
  const result = await runSoak({ seconds: 8, seed, ...options }, () => undefined);
  if (result === undefined) return;
  expect({ seed, faults: result.faults }).toEqual({ seed, faults: [] });
  expect(result.deliveries).toBeGreaterThan(2_000);
  for (const { clients, connections } of Object.values(result.transports)) expect(connections).toBeGreaterThan(clients);
});
