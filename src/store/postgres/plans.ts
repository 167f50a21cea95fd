import type { SQL } from "bun";

const fewestRows = 500;
const mostRows = 8_000;

/** Which connections should forget how they run their statements. */
export type Plans = {
  /** Called with the number of rows that a statement wrote. */
  onWrite(rows: number): void;
  /** Whether the plans of a connection are too old. From then on they are new, so whoever asks has to discard them. */
  areOld(connection: SQL): boolean;
};

/**
 * PostgreSQL keeps the plan of a prepared statement until autovacuum has looked at its tables, once a minute at most, and for a table of a
 * few pages the best plan is to read all of it. So a connection plans anew whenever this node has written as many rows as before it
 * planned last: 500 at least, and 8,000 at most.
 */
export function createPlans(): Plans {
  const plannedAt = new WeakMap<SQL, number>();
  let written = 0;

  return {
    onWrite(rows) {
      written += rows;
    },
    areOld(connection) {
      const before = plannedAt.get(connection);
      const isOld = before !== undefined && written - before >= Math.min(mostRows, Math.max(fewestRows, before));
      if (isOld || before === undefined) plannedAt.set(connection, written);
      return isOld;
    },
  };
}

/** Has a connection plan anew what comes next. It is not waited for: a connection that is lost meanwhile fails what comes next, too. */
export function discardPlans(connection: SQL): void {
  connection`DISCARD PLANS`.execute().catch(() => undefined);
}
