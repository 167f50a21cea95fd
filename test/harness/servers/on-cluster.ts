import { SQL } from "bun";

/**
 * `npm run test:cluster` sets these two, and then every server that a test starts is a node on PostgreSQL and NATS, and
 * `useHerald` gives three of them. Without them a server has its embedded database, and is alone.
 */
const { TEST_POSTGRES_URL: postgresUrl, TEST_NATS_URL: natsUrl } = process.env;

/** How many nodes `useHerald` starts in place of one. */
export const nodesOfCluster = postgresUrl === undefined ? 1 : 3;

/** The settings of nodes on a new database; none where the suite runs on embedded nodes. */
export async function clusterSettings(tokenSecret: string): Promise<Record<string, string>> {
  if (postgresUrl === undefined || natsUrl === undefined) return {};
  const name = `test_${crypto.randomUUID().replaceAll("-", "")}`;
  const server = new SQL(`${postgresUrl}/postgres`, { max: 1 });
  await server.unsafe(`CREATE DATABASE ${name}`);
  await server.close();
  return {
    HERALD_DATABASE_URL: `${postgresUrl}/${name}`,
    HERALD_BUS_URL: natsUrl,
    HERALD_TOKEN_SECRET: tokenSecret, // of all nodes, since a token that one has signed must be good for the others
  };
}
