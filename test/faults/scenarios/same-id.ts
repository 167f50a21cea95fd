import { defineScenario } from "../scenario.ts";
import { onCluster } from "../stages.ts";

/**
 * One key sends as fast as it is answered, to make many collisions: more than the 1,000 per second that a key may send.
 */
const lifted = { HERALD_LIMIT_REQUESTS_PER_SECOND: "0", HERALD_LIMIT_REQUESTS_BURST: "0" };

/** Every send goes to all nodes at the same moment. Only the callers misbehave. */
export const sameId = defineScenario({
  name: "same-id",
  row: "Several nodes receive the same id at once",
  expected: "Each answers 201 with the same `server_mid`; there is one message.",
  rounds: { short: 1, long: 1 },
  holdMs: { short: [1_000, 1_500], long: [20_000, 20_000] },
  allows: [],
  calls: { callers: 12, nodesAtOnce: 3, pauseMs: 2 },
  stage: () => onCluster({ env: () => lifted }),
  break: () => () => undefined,
});
