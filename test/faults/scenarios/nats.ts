import { defineScenario } from "../scenario.ts";
import { onCluster } from "../stages.ts";

const unnoticed =
  "Every send is answered 201 and heard within about 5 s, by the check against the database. At once when the bus is back.";

/** The bus is gone. */
export const natsKilled = defineScenario({
  name: "nats-killed",
  row: "NATS killed for 60 s and restarted",
  expected: unnoticed,
  rounds: { short: 1, long: 1 },
  holdMs: { short: [0, 500], long: [60_000, 60_000] },
  allows: [],
  hearsMeanwhile: true,
  stage: () => onCluster(),
  async break({ nats }) {
    await nats.kill();
    return nats.start;
  },
});

/** The bus keeps its connections and does nothing. */
export const natsFrozen = defineScenario({
  name: "nats-frozen",
  row: "NATS frozen (SIGSTOP) and resumed",
  expected: unnoticed,
  rounds: { short: 1, long: 3 },
  holdMs: { short: [0, 500], long: [1_000, 20_000] },
  allows: [],
  hearsMeanwhile: true,
  stage: () => onCluster(),
  break({ nats }) {
    nats.freeze();
    return nats.resume;
  },
});
