import { defineScenario } from "../scenario.ts";
import { onClusterWithClocks } from "../stages.ts";

/** The clock of one node goes back, by up to two hours, and later forward again. */
export const clockStep = defineScenario({
  name: "clock-step",
  row: "Clock of a node stepped back, and forward again (libfaketime)",
  expected: "Nothing happens, but that `created_at` follows the clock: the order is that of commits.",
  rounds: { short: 2, long: 8 },
  holdMs: { short: [300, 1_200], long: [500, 5_000] },
  allows: [],
  stage: onClusterWithClocks,
  break({ clocks }, { random }) {
    const clock = random.pick(clocks);
    clock.set(-random.integer(5, 7_200));
    return () => clock.set(0);
  },
});
