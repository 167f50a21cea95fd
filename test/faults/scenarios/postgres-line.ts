import { defineScenario } from "../scenario.ts";
import { onClusterWithLines } from "../stages.ts";

/** One node is cut off from the database. */
export const postgresLineCut = defineScenario({
  name: "postgres-line-cut",
  row: "One node's line to PostgreSQL is cut (proxy)",
  expected: "This node answers 503, the others go on. Its connections stay open and hear by the bus.",
  rounds: { short: 1, long: 6 },
  holdMs: { short: [300, 1_000], long: [500, 10_000] },
  allows: ["503", "none"],
  requires: ["503"],
  stage: onClusterWithLines,
  break({ lines }, { random }) {
    const { postgres } = random.pick(lines);
    postgres.cut();
    return postgres.mend;
  },
});

/** One node's line to the database goes dead in the middle of a commit, so its outcome is unknown. */
export const postgresLineFrozen = defineScenario({
  name: "postgres-line-frozen",
  row: "One node's line to PostgreSQL goes dead (proxy)",
  expected:
    "Sends go on at the other nodes, at the latest when PostgreSQL has ended the node's transaction (10 s). Connections stay open and miss nothing.",
  rounds: { short: 1, long: 4 },
  holdMs: { short: [500, 1_500], long: [2_000, 20_000] },
  allows: ["503", "none"],
  stage: onClusterWithLines,
  break({ lines }, { random }) {
    const { postgres } = random.pick(lines);
    postgres.freeze();
    return postgres.mend;
  },
});

/** A distant database over a narrow line. */
export const postgresLineSlow = defineScenario({
  name: "postgres-line-slow",
  row: "Every node's line to PostgreSQL is slow: 20 ms each way, 1 MB/s (proxy)",
  expected: "Sends take longer. Connections stay open and miss nothing.",
  rounds: { short: 0, long: 3 },
  holdMs: { short: [500, 1_500], long: [5_000, 10_000] },
  allows: [],
  stage: onClusterWithLines,
  break({ lines }) {
    for (const { postgres } of lines) postgres.slow(20, 1_000_000);
    return async () => {
      for (const { postgres } of lines) await postgres.mend();
    };
  },
});
