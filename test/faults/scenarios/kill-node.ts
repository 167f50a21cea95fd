import { defineScenario } from "../scenario.ts";
import { onCluster } from "../stages.ts";

/** kill -9 of a node under load, repeatedly. */
export const killNode = defineScenario({
  name: "kill-node",
  row: "`kill -9` of a node under load",
  expected: "Every send goes on at the other nodes. The clients of the node come back elsewhere and miss nothing.",
  rounds: { short: 4, long: 30 },
  holdMs: { short: [0, 400], long: [0, 3_000] },
  allows: ["none"],
  breaksConnections: true,
  stage: () => onCluster(),
  async break({ nodes }, { random }) {
    const node = random.pick(nodes);
    await node.kill();
    return node.start;
  },
});
