import type { BusSecrets } from "../ports.ts";
import type { Row, Sql } from "../sql/driver.ts";

type SecretRow = Row & { secret: string };

/**
 * Creates the bus secrets of nodes that share a database. All write the first secret with the same key, so that only
 * one succeeds.
 */
export function createBusSecrets(sql: Pick<Sql, "all" | "run">): BusSecrets {
  return {
    async list() {
      const rows = await sql.all<SecretRow>("SELECT secret FROM bus_secret ORDER BY id");
      return rows.map(({ secret }) => secret);
    },
    async begin(secret, createdAt) {
      const insert = "INSERT INTO bus_secret (id, secret, created_at) VALUES (1, ?, ?) ON CONFLICT (id) DO NOTHING";
      await sql.run(insert, secret, createdAt);
    },
  };
}

/** Creates the bus secrets of a node that has its database to itself; they need not be stored. */
export function createLoneBusSecrets(): BusSecrets {
  const secrets: string[] = [];
  return {
    list: async () => [...secrets],
    async begin(secret) {
      if (secrets.length === 0) secrets.push(secret);
    },
  };
}
