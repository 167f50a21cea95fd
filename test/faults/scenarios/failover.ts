import type { Postgres } from "../../harness/engines/postgres.ts";
import { defineScenario, type Scenario } from "../scenario.ts";
import { onSuccession, type Succession } from "../succession.ts";

const told =
  "What the database lost is counted. Who heard of it is closed with 1012 and told `recovered: false`; what is acknowledged afterwards everyone hears.";
/** How many sends are lost, alternating: few, so that new offsets soon pass the lost ones, and many. */
const lostSends = (round: number, size: "short" | "long"): [fewest: number, most: number] =>
  round % 2 === 0 ? [1, 3] : [20, size === "short" ? 60 : 200];

/** Points the database's address at the standby, like a changed DNS name, before and while the standby takes over. */
async function failOver({ handOver }: Succession, standby: Postgres, org: string): Promise<void> {
  await handOver(standby, org);
  await standby.promote();
}

/** The database comes back without its last commits. */
const losingItsEnd = {
  expected: told,
  rounds: { short: 2, long: 6 },
  holdMs: { short: [0, 300], long: [0, 3_000] },
  allows: ["503", "none"],
  breaksConnections: true,
  closesWith: [1012],
  losesTail: true,
  stage: onSuccession,
} satisfies Partial<Scenario<Succession>>;

/** A lagging standby takes over, without what it had not yet received. */
export const failoverWithLag = defineScenario({
  name: "failover-with-lag",
  row: "PostgreSQL killed (SIGKILL); an asynchronous standby that lags takes over",
  ...losingItsEnd,
  async break(stage, { round, callers, random, org, size }) {
    const { database } = stage;
    const standby = await database.addStandby({ isSynchronous: false });
    database.freezeReplication();
    await callers.progress(random.integer(...lostSends(round, size)));
    await database.killPrimary();
    return () => failOver(stage, standby, org.id);
  },
});

/** A standby takes over that has everything acknowledged, though it was unreachable for a while before. */
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

/** The database is restored from a backup while nodes run. */
export const restoredBackup = defineScenario({
  name: "restored-backup",
  row: "PostgreSQL stopped, and started again from a backup that was made earlier (pg_basebackup)",
  ...losingItsEnd,
  async break({ database, handOver }, { round, callers, random, org, size }) {
    const backup = await database.primary.copy();
    await callers.progress(random.integer(...lostSends(round, size)));
    await database.primary.shutDown("fast");
    return () => handOver(backup, org.id);
  },
});
