import { SQL } from "bun";
import { defineScenario } from "../scenario.ts";
import { onCluster } from "../stages.ts";

const away =
  "Sends are answered 503, or not at all, until it is back, and then go on. Connections stay open and miss nothing.";

/** A restart by an administrator. */
export const postgresFastRestart = defineScenario({
  name: "postgres-fast-restart",
  row: "PostgreSQL: fast restart",
  expected: away,
  rounds: { short: 2, long: 10 },
  holdMs: { short: [0, 300], long: [0, 3_000] },
  allows: ["503", "none"],
  requires: ["503"],
  stage: () => onCluster(),
  async break({ postgres }) {
    await postgres.shutDown("fast");
    return postgres.start;
  },
});

/** A crash of the database, which recovers from its log. */
export const postgresImmediateRestart = defineScenario({
  name: "postgres-immediate-restart",
  row: "PostgreSQL: immediate restart (a crash)",
  expected: away,
  rounds: { short: 2, long: 10 },
  holdMs: { short: [0, 300], long: [0, 3_000] },
  allows: ["503", "none"],
  requires: ["503"],
  stage: () => onCluster(),
  async break({ postgres }) {
    await postgres.shutDown("immediate");
    return postgres.start;
  },
});

/** The database keeps its connections and does nothing. */
export const postgresFrozen = defineScenario({
  name: "postgres-frozen",
  row: "PostgreSQL frozen (SIGSTOP) and resumed",
  expected:
    "Sends wait, or are answered 503 after 15 s, and go on when it thaws. Connections stay open and miss nothing.",
  rounds: { short: 1, long: 4 },
  holdMs: { short: [1_000, 2_000], long: [1_000, 25_000] },
  allows: ["503", "none"],
  stage: () => onCluster(),
  break({ postgres }) {
    postgres.freeze();
    return postgres.resume;
  },
});

/** Others hold every connection that the database offers. */
export const postgresOutOfConnections = defineScenario({
  name: "postgres-out-of-connections",
  row: "PostgreSQL out of connections",
  expected: away,
  rounds: { short: 1, long: 6 },
  holdMs: { short: [500, 1_500], long: [500, 10_000] },
  allows: ["503", "none"],
  requires: ["503"],
  stage: () => onCluster(),
  break: ({ databaseUrl }) => takeAllConnections(databaseUrl),
});

/** Takes the free connections, ends the nodes' sessions and takes what that frees, until told to release all. */
async function takeAllConnections(url: string): Promise<() => Promise<void>> {
  const first = new SQL(url, { max: 1 });
  const taken = [first];
  let isOver = false;

  async function takeAll(): Promise<void> {
    for (;;) {
      const connection = new SQL(url, { max: 1 });
      try {
        await connection`SELECT 1`;
        taken.push(connection);
      } catch {
        return; // there are no more
      }
    }
  }

  async function keepTaking(): Promise<void> {
    while (!isOver) {
      await takeAll();
      await first`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'herald'`;
    }
  }

  await first`SELECT 1`; // connects now, as there is no room later
  await takeAll();
  const taking = keepTaking();
  return async () => {
    isOver = true;
    await taking;
    await Promise.all(taken.map((connection) => connection.close({ timeout: 0 })));
  };
}
