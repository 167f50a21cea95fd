import { SQL } from "bun";
import { eventually } from "../../harness/deadline.ts";
import { errorsLogged } from "../../harness/servers/herald.ts";
import { defineScenario } from "../scenario.ts";
import { type ClusterStage, onCluster } from "../stages.ts";

type Health = { checks: Record<string, string> };

/** Waits until all nodes say by `/readyz` that they cannot, or can, write. */
async function untilReady({ nodes }: ClusterStage, isReady: boolean): Promise<void> {
  for (const { herald, url } of nodes) {
    const look = async () => {
      const { status, body } = await herald.http<Health>("GET", "/readyz");
      const isRight = isReady ? status === 200 : status === 503 && /read-only/.test(body.checks.store ?? "");
      return isRight || undefined;
    };
    await eventually(look, `${url} to be ${isReady ? "ready" : "not ready, as the database is read-only"}`);
  }
}

/** The database refuses writes, and accepts them again. */
export const postgresReadOnly = defineScenario({
  name: "postgres-read-only",
  row: "PostgreSQL turns read-only and back, for the sessions that are open (a setting), or for new ones, which then stay so (a failover and back)",
  expected:
    "Sends are answered 503, and the nodes are not ready and say why. Once it accepts writes, they leave the sessions that do not. Connections stay open and miss nothing; nothing is logged as an error.",
  rounds: { short: 2, long: 10 },
  holdMs: { short: [0, 300], long: [0, 5_000] },
  allows: ["503", "none"],
  requires: ["503"],
  stage: () => onCluster(),
  async break(stage, { round }) {
    const { postgres, databaseUrl } = stage;
    const admin = new SQL(postgres.asSuperuser(databaseUrl), { max: 1 });
    const name = new URL(databaseUrl).pathname.slice(1);
    const setting = "default_transaction_read_only";
    if (round % 2 === 1) await postgres.configure(setting, "on");
    else {
      await admin.unsafe(`ALTER DATABASE ${name} SET ${setting} = on`);
      await admin`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name LIKE 'herald%'`;
    }
    await untilReady(stage, false);
    return async () => {
      if (round % 2 === 1) await postgres.configure(setting, "off");
      else await admin.unsafe(`ALTER DATABASE ${name} RESET ${setting}`);
      await admin.close();
      await untilReady(stage, true);
    };
  },
  async inspect({ nodes }) {
    const errors = nodes.flatMap(({ herald }) => errorsLogged(herald));
    if (errors.length > 0) throw new Error(`an outage was logged as an error: ${errors.join("; ")}`);
    return undefined;
  },
});
