import { type CostRun, costSeries } from "../../harness/report/costs.ts";
import type { Case } from "../case.ts";
import {
  costOfHeadChecks,
  costOfOrganizations,
  costOfPings,
  costOfSubscriptions,
  costsOfSockets,
  costsOfStreams,
} from "./connections.ts";
import { costOfRemembering, costsOfEvents } from "./events.ts";
import { openFixture } from "./fixture.ts";
import { costsOfStorage } from "./storage.ts";

const roundsAtMost = 3; // a round takes minutes

/**
 * Measures the CPU and memory cost of everything that may be numerous. Each cost is a slope between two sizes on one
 * server, free of offsets and of the load of neighbours. Later steps of a round subtract what earlier ones measured.
 */
export const costs: Case = async (dataDir, { rounds }) => {
  const fixture = await openFixture(dataDir);
  const steps = [
    costsOfSockets,
    costsOfStreams,
    costOfPings,
    costOfSubscriptions,
    costOfOrganizations,
    costOfHeadChecks,
    costsOfEvents,
    costOfRemembering,
    costsOfStorage,
  ];
  const runs: CostRun[] = [];
  try {
    for (let round = 0; round < Math.min(rounds, roundsAtMost); round++) {
      const run: CostRun = {};
      for (const step of steps) {
        console.error(`  round ${round + 1}: ${step.name}`);
        Object.assign(run, await step(fixture, run));
      }
      runs.push(run);
    }
  } finally {
    await fixture.stop();
  }
  return { series: { [costSeries.title]: { [costSeries.contender]: runs } }, rows: [] };
};
