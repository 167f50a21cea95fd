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
import { layGround } from "./ground.ts";
import { costsOfStorage } from "./storage.ts";

const roundsAtMost = 3; // a round takes minutes

/**
 * What everything costs that there may be many of, in CPU and memory: slopes, each between two sizes on one server, so that
 * neither the offset nor the neighbours' load is in them. Later steps of a round take off what earlier ones have measured.
 */
export const costs: Case = async (dataDir, { rounds }) => {
  const ground = await layGround(dataDir);
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
        Object.assign(run, await step(ground, run));
      }
      runs.push(run);
    }
  } finally {
    await ground.stop();
  }
  return { series: { [costSeries.title]: { [costSeries.contender]: runs } }, rows: [] };
};
