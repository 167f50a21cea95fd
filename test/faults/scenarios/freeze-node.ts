import { defineScenario } from "../scenario.ts";
import { onCluster } from "../stages.ts";

/** A node stands still for a while, as in a paused virtual machine. */
export const freezeNode = defineScenario({
  name: "freeze-node",
  row: "A node frozen (SIGSTOP) and resumed",
  expected:
    "Sends go on at the other nodes, at the latest when PostgreSQL has ended the frozen node's transaction (10 s). Its connections stay open and hear late what was sent meanwhile.",
  rounds: { short: 2, long: 6 },
  holdMs: { short: [300, 1_500], long: [500, 20_000] },
  allows: ["none", "503"],
  breaksConnections: true,
  stage: () => onCluster(),
  break({ nodes }, { random }) {
    const node = random.pick(nodes);
    node.freeze();
    return node.resume;
  },
});
