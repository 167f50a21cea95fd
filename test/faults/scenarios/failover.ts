import { defineScenario } from "../scenario.ts";
import { onSuccession } from "../succession.ts";

/** A standby takes over that has all that was acknowledged, though it heard nothing for a while before. */
export const failoverSynchronous = defineScenario({
  name: "failover-synchronous",
  row: "PostgreSQL killed (SIGKILL) while its synchronous standby is out of reach; the standby takes over",
  expected: "Sends wait for the standby, or are answered 503. Nothing that was acknowledged is lost.",
  rounds: { short: 1, long: 5 },
  holdMs: { short: [300, 800], long: [500, 20_000] },
  allows: ["503", "none"],
  stage: onSuccession,
  async break({ database, handOver }, { callers, org }) {
    const standby = await database.addStandby({ isSynchronous: true });
    await callers.progress(20);
    database.freezeReplication();
    return async () => {
      await database.killPrimary();
      await standby.promote();
      await handOver(standby, org.id);
    };
  },
});
