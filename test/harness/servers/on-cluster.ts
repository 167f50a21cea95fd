import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SQL } from "bun";

/**
 * Set by `npm run test:cluster`: then every server that a test starts is a node on PostgreSQL and NATS, and `useHerald`
 * starts three. Otherwise a server is alone, with an embedded database.
 */
const { TEST_POSTGRES_URL: postgresUrl, TEST_NATS_URL: natsUrl } = process.env;

/**
 * Set by `npm run test:cluster -- --workers`: then `useHerald` starts one server whose nodes are this many processes on one embedded
 * database.
 */
export const workersOfService = Number(process.env.TEST_WORKERS ?? 1);

/** Whether the servers that tests start are nodes on PostgreSQL and NATS. */
export const isOnNats = postgresUrl !== undefined;

/** How many nodes `useHerald` starts. */
export const nodesOfCluster = isOnNats ? 3 : workersOfService;

/** A folder for the files of a cluster, removed when the process ends. */
function sharedFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "herald-files-"));
  process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** The settings of nodes on a new database; empty if the suite runs on embedded nodes. */
export async function clusterSettings(tokenSecret: string): Promise<Record<string, string>> {
  if (postgresUrl === undefined || natsUrl === undefined) return {};
  const name = `test_${crypto.randomUUID().replaceAll("-", "")}`;
  const server = new SQL(`${postgresUrl}/postgres`, { max: 1 });
  await server.unsafe(`CREATE DATABASE ${name}`);
  await server.close();
  return {
    HERALD_DATABASE_URL: `${postgresUrl}/${name}`,
    HERALD_BUS_URL: natsUrl,
    HERALD_FILES_URL: `file://${sharedFolder()}`,
    HERALD_TOKEN_SECRET: tokenSecret, // shared, so that a token signed by one node is valid on the others
  };
}
