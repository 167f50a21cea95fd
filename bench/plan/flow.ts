import { type Cell, commitSeconds } from "./cell.ts";
import type { Costs } from "./known-costs.ts";
import type { Plan } from "./planner.ts";
import type { Flow } from "./queue.ts";

const maxBatch = 500; // from src/store/log/send-log.ts

/**
 * What passes through one node of a plan. All the node's work except sends and commits is spread over the hints, so
 * that its thread is as busy as planned. `load` multiplies the input.
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
