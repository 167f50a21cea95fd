import { defineScenario } from "../scenario.ts";
import { onClusterWithLines, onNatsPair } from "../stages.ts";

const unnoticed =
  "Every send is answered 201. What one side sends the other hears within about 5 s, by the check against the database.";

/** Two NATS servers, each with nodes of its own, cannot reach each other. No node is told. */
export const natsPartition = defineScenario({
  name: "nats-partition",
  row: "NATS partitioned between two nodes (two servers, the route between their network namespaces cut)",
  expected: unnoticed,
  rounds: { short: 1, long: 3 },
  holdMs: { short: [0, 500], long: [2_000, 30_000] },
  allows: [],
  hearsMeanwhile: true,
  calls: { homes: 1 }, // sends from the other side would reveal that something is missing
  stage: onNatsPair,
  break({ pair }) {
    pair.partition();
    return pair.mend;
  },
});

/** One node no longer reaches NATS, though its connection is not closed. */
export const natsLineFrozen = defineScenario({
  name: "nats-line-frozen",
  row: "One node's line to NATS goes dead (proxy)",
  expected: unnoticed,
  rounds: { short: 1, long: 3 },
  holdMs: { short: [0, 500], long: [2_000, 20_000] },
  allows: [],
  hearsMeanwhile: true,
  stage: onClusterWithLines,
  break({ lines }, { random }) {
    const { nats } = random.pick(lines);
    nats.freeze();
    return nats.mend;
  },
});

/** One node is cut off from NATS. */
export const natsLineCut = defineScenario({
  name: "nats-line-cut",
  row: "One node's line to NATS is cut (proxy)",
  expected: unnoticed,
  rounds: { short: 0, long: 3 },
  holdMs: { short: [0, 500], long: [2_000, 20_000] },
  allows: [],
  hearsMeanwhile: true,
  stage: onClusterWithLines,
  break({ lines }, { random }) {
    const { nats } = random.pick(lines);
    nats.cut();
    return nats.mend;
  },
});
