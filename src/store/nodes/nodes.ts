import type { BusSecrets, NodeRegistry, RegisteredNode } from "../ports.ts";
import type { Reader, Sql } from "../sql/driver.ts";

const write = `INSERT INTO node (id, beat, status) VALUES (?, 1, ?)
  ON CONFLICT (id) DO UPDATE SET beat = node.beat + 1, status = excluded.status
  RETURNING `;

/** Creates the registry of nodes that share a database. */
export function createNodeRegistry(sql: Pick<Sql, "all" | "run"> & Pick<Reader, "dialect">): NodeRegistry {
  return {
    async beat(id, status) {
      const [row] = await sql.all<{ now: number }>(`${write}${sql.dialect.now} AS now`, id, status);
      return row && Number(row.now);
    },
    list: () => readNodes(sql),
    async remove(id, beat) {
      if (beat === undefined) await sql.run("DELETE FROM node WHERE id = ?", id);
      else await sql.run("DELETE FROM node WHERE id = ? AND beat = ?", id, beat);
    },
  };
}

/** Reads the nodes that share a database. */
export async function readNodes(sql: Pick<Sql, "all">): Promise<RegisteredNode[]> {
  const rows = await sql.all<RegisteredNode>("SELECT id, beat, status FROM node ORDER BY id");
  return rows.map((row) => ({ ...row, beat: Number(row.beat) }));
}

/** Creates the registry of a node that has its database to itself. */
export function createLoneRegistry(): NodeRegistry {
  const nodes = new Map<string, RegisteredNode>();
  return {
    async beat(id, status) {
      nodes.set(id, { id, beat: (nodes.get(id)?.beat ?? 0) + 1, status });
      return undefined;
    },
    async list() {
      return [...nodes.values()].sort((left, right) => (left.id < right.id ? -1 : 1));
    },
    async remove(id, beat) {
      if (beat === undefined || nodes.get(id)?.beat === beat) nodes.delete(id);
    },
  };
}

/**
 * Creates the bus secrets of nodes that share a database. All write the first secret with the same key, so that only
 * one succeeds.
 */
export function createBusSecrets(sql: Pick<Sql, "all" | "run">): BusSecrets {
  return {
    async list() {
      const rows = await sql.all<{ secret: string }>("SELECT secret FROM bus_secret ORDER BY id");
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
