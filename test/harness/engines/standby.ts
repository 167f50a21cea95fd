import { SQL } from "bun";
import { type SpoiltLine, startSpoiltLine } from "../clients/spoilt-line.ts";
import { eventually } from "../deadline.ts";
import { type Postgres, startPostgres } from "./postgres.ts";

const standbyName = "standby";

/** A database that passes from one server to the next, behind a constant address. */
export type ReplicatedDatabase = {
  /** The first server, for creating databases. */
  readonly first: Postgres;
  /** The current primary, even if it was killed. */
  readonly primary: Postgres;
  /** The line to it. */
  readonly line: SpoiltLine;
  /**
   * Starts another server with all of the primary's data, which follows it. If synchronous, the primary acknowledges
   * only what the standby has flushed.
   */
  addStandby(options: { isSynchronous: boolean }): Promise<Postgres>;
  /** Cuts the standby off from the primary without telling either. */
  freezeReplication(): void;
  /** SIGKILL to the primary; its address refuses connections. */
  killPrimary(): Promise<void>;
  /**
   * Makes another server the primary, whether or not it accepts writes yet. `read` is called with the previous one,
   * which is recovered for that and then stopped.
   */
  handOver(next: Postgres, read: (before: Postgres) => Promise<void>): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
};

/** Starts one with a single server; `undefined` if PostgreSQL is not installed, which is a failure under CI. */
export async function startReplicatedDatabase(): Promise<ReplicatedDatabase | undefined> {
  const first = await startPostgres();
  if (first === undefined) return undefined;
  let primary = first;
  let replication: SpoiltLine | undefined;
  const line = await startSpoiltLine(first.port);
  const servers = new Set([first]);

  return {
    first,
    get primary() {
      return primary;
    },
    line,
    async addStandby({ isSynchronous }) {
      replication = await startSpoiltLine(primary.port);
      const standby = await primary.copy({ standby: { name: standbyName, port: replication.port } });
      servers.add(standby);
      if (isSynchronous) await primary.configure("synchronous_standby_names", standbyName);
      await eventually(
        async () => (await replicationOf(primary)) === (isSynchronous ? "sync" : "async") || undefined,
        "a standby that follows",
      );
      return standby;
    },
    freezeReplication: () => replication?.freeze(),
    async killPrimary() {
      line.cut();
      await primary.kill();
    },
    async handOver(next, read) {
      const before = primary;
      primary = next;
      servers.add(next);
      replication?.stop();
      line.leadTo(next.port);
      await line.mend();
      await before.start();
      await read(before);
      before.stop();
      servers.delete(before);
    },
    async [Symbol.asyncDispose]() {
      line.stop();
      replication?.stop();
      for (const server of servers) server.stop();
    },
  };
}

/** The replication state of a server's standby; `undefined` if there is none. */
async function replicationOf(server: Postgres): Promise<string | undefined> {
  const sql = new SQL(`${server.asSuperuser(server.url)}/postgres`, { max: 1 });
  try {
    const rows = await sql<
      { sync_state: string }[]
    >`SELECT sync_state FROM pg_stat_replication WHERE application_name = ${standbyName} AND state = 'streaming'`;
    return rows[0]?.sync_state;
  } finally {
    await sql.close();
  }
}
