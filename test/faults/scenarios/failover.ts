import type { Postgres } from "../../harness/postgres.ts";
import { defineScenario } from "../scenario.ts";
import { onSuccession, type Succession } from "../succession.ts";

/** The database's address leads to the standby, as when a name is changed, before and while that takes over. */
async function failOver({ handOver }: Succession, standby: Postgres, org: string): Promise<void> {
  await handOver(standby, org);
  await standby.promote();
}

/** A standby takes over that has all that was acknowledged, though it heard nothing for a while before. */
export const failoverSynchronous = defineScenario({
  name: "failover-synchronous",
  row: "PostgreSQL killed (SIGKILL) while its synchronous standby is out of reach; the standby takes over",
  expected:
    "Sends wait for the standby, or are answered 503. Nothing that was acknowledged is lost; connections stay open.",
  rounds: { short: 1, long: 6 },
  holdMs: { short: [300, 800], long: [500, 20_000] },
  allows: ["503", "none"],
  stage: onSuccession,
  async break(stage, { callers, org }) {
    const { database } = stage;
    const standby = await database.addStandby({ isSynchronous: true });
    await callers.progress(20);
    database.freezeReplication();
    return async () => {
      await database.killPrimary();
      await failOver(stage, standby, org.id);
    };
  },
});
