import type { Postgres } from "../harness/engines/postgres.ts";
import { type ReplicatedDatabase, startReplicatedDatabase } from "../harness/engines/standby.ts";
import { readPostgresLog } from "../harness/reading/event-log.ts";
import { startCluster } from "../harness/servers/cluster.ts";
import type { Past } from "./judging/verdict.ts";
import type { Stage } from "./scenario.ts";
import { nodeCount, throughPort } from "./stages.ts";

/** Nodes on a database that another server can take over. */
export type Succession = Stage & {
  readonly database: ReplicatedDatabase;
  readonly pasts: readonly Past[];
  /** Makes another server the primary, and records what the previous one knew of an organization. */
  handOver(next: Postgres, org: string): Promise<void>;
};

/** Starts three nodes that reach PostgreSQL at a constant address. */
export async function onSuccession(): Promise<Succession | undefined> {
  await using starting = new AsyncDisposableStack();
  const database = await startReplicatedDatabase();
  if (database === undefined) return undefined;
  starting.use(database);
  const { first: postgres, line } = database;
  const cluster = await startCluster({
    nodes: nodeCount,
    postgres,
    env: (_, databaseUrl) => ({ HERALD_DATABASE_URL: throughPort(databaseUrl, line.port) }),
  });
  if (cluster === undefined) return undefined;
  starting.use(cluster);
  const all = starting.move();
  const { nodes, databaseUrl } = cluster;
  const pasts: Past[] = [];
  const readLogAt = (port: number, org: string) => readPostgresLog(throughPort(databaseUrl, port), org);
  return {
    nodes,
    database,
    pasts,
    async handOver(next, org) {
      const endedAt = Date.now();
      await database.handOver(next, async (before) => {
        pasts.push({ messages: (await readLogAt(before.port, org)).messages, endedAt });
      });
    },
    readLog: (org) => readLogAt(line.port, org),
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  };
}
