import { type Cell, commitSeconds } from "./cell.ts";
import type { Costs } from "./known-costs.ts";
import type { Plan } from "./planner.ts";
import type { Flow } from "./queue.ts";

const maxBatch = 500; // of src/store/log/send-log.ts

/**
 * What goes through one node of a plan. All that the node does beside sends and commits is spread over the hints, so that its
 * thread is as busy as the plan says. `load` multiplies what comes.
 */
export function flowOf({ fullest, servers }: Pick<Plan, "fullest" | "servers">, costs: Costs, load = 1): Flow {
  const sends = fullest.sends / servers.nodes;
  const hints = Math.max(fullest.hintsPerNode, sends);
  return {
    sends: sends * load,
    sendMicros: costs.sendEventCpu,
    commitMicros: costs.sendCommitCpu,
    databaseMicros: commitSeconds(costs) * 1e6 - costs.sendCommitCpu,
    databaseMicrosPerEvent: costs.sendEventDatabaseCpu,
    hints: hints * load,
    hintMicros: ((fullest.utilisation.nodeCpu - cpuOfSends(fullest)) * 1e6) / hints,
    maxBatch,
  };
}

function cpuOfSends({ nodeCpuBy }: Cell): number {
  return nodeCpuBy.sends;
}
