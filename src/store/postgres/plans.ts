import type { SQL } from "bun";

const fewestRows = 500;
const mostRows = 8_000;

/**
 * Tracks what was written since plans were made. PostgreSQL keeps the plan of a prepared statement until autovacuum
 * analyzes its tables, at most once a minute, and for a table of a few pages the best plan is a full scan. A connection
 * therefore plans again each time this node has doubled the number of rows it has written, after at least 500 and at
 * most 8,000 rows.
 */
export function createPlans() {
  const plannedAt = new WeakMap<SQL, number>();
  let written = 0;

  return {
    /** Called with the number of rows that a statement wrote. */
    onWrite(rows: number): void {
      written += rows;
    },
    /**
     * Makes a connection plan its next statements again if its plans are too old. `reserved` is the connection while a
     * transaction has it. Does not wait: if the connection is lost, the next statement fails, too.
     */
    refresh(connection: SQL, reserved: SQL = connection): void {
      const before = plannedAt.get(connection);
      const isOld = before !== undefined && written - before >= Math.min(mostRows, Math.max(fewestRows, before));
      if (isOld || before === undefined) plannedAt.set(connection, written);
      if (isOld) reserved`DISCARD PLANS`.execute().catch(() => undefined);
    },
  };
}
