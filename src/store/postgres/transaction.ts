import type { SQL } from "bun";
import { postgresDialect } from "../sql/dialect.ts";
import { createLastWrites, errorCodeOf, type Sql, type Transaction } from "../sql/driver.ts";
import { createRowsInOne } from "../sql/rows.ts";
import type { createPlans } from "./plans.ts";

/** Sets the organizations that the tables' policies read, until the transaction ends (`migrations/0005-row-security.sql`). */
export const setOrganizations = "SELECT set_config('herald.orgs', ?, true) AS orgs";

/** Sets all organizations, including deleted ones, in the same way. */
export const setEveryOrganization =
  "SELECT set_config('herald.orgs', (SELECT CAST(COALESCE(json_agg(id), '[]') AS text) FROM organization), true) AS orgs";

type Connection = Pick<SQL, "unsafe">;

/** Runs a statement on a connection. */
export type Ask = <Result>(query: (connection: Connection) => Promise<Result>) => Promise<Result>;

/** SQLSTATE in_failed_sql_transaction: an earlier statement of the transaction failed (PostgreSQL, appendix A). */
const afterFailure = "25P02";

/** Creates the statements that run with an `Ask`. */
type SqlOn = (ask: Ask) => Sql;

/** Creates the statements of a transaction. Statements that only read run with `read`, those that may write with `write`. */
export function statementsOf(sqlOn: SqlOn, read: Ask, write: Ask): Omit<Transaction, "lastly"> {
  const [reads, sql] = [sqlOn(read), sqlOn(write)];
  const { find, lock } = createRowsInOne(reads);
  return {
    ...sql,
    dialect: postgresDialect,
    rows: { ...createRowsInOne(sql), find, lock },
    limitTo: async (orgs) => void (await reads.all(setOrganizations, JSON.stringify(orgs))),
    forget: () => undefined,
  };
}

/**
 * Runs `work` in a transaction on a reserved connection. Reads are sent right after `BEGIN`, and `COMMIT` right after
 * the writes passed to `lastly`, without waiting for responses: on a busy machine, each wait costs a turn of the event
 * loop. Statements that may write wait for `BEGIN`, because without a transaction their changes would stay.
 */
export async function runTransaction<Result>(
  idle: SQL,
  { sqlOn, plans }: { sqlOn: SqlOn; plans: ReturnType<typeof createPlans> },
  work: (transaction: Transaction) => Promise<Result>,
): Promise<Result> {
  using connection = await idle.reserve();
  plans.refresh(idle, connection);
  const { lastly, settle } = createLastWrites();
  let isBegun = false;
  let isOver = false;
  let cause: unknown; // of the failure; statements sent meanwhile fail because of it, and may reject first
  // The database may have another default, with which a batch would fail if others commit while it waits for its locks.
  const begun = connection`BEGIN ISOLATION LEVEL READ COMMITTED`.execute().then(() => {
    isBegun = true;
  });
  begun.catch(() => undefined); // every statement rejects with it

  const ask: Ask = async (query) => {
    if (isOver) throw new Error("a statement after the end of its transaction");
    try {
      return await query(connection);
    } catch (error) {
      if (errorCodeOf(error) !== afterFailure) cause ??= error;
      throw error;
    }
  };
  const read: Ask = async (query) => {
    const [answer] = await Promise.all([ask(query), begun]);
    return answer;
  };
  const write: Ask = (query) => (isBegun ? ask(query) : begun.then(() => ask(query)));

  try {
    const result = await work({ ...statementsOf(sqlOn, read, write), lastly });
    await begun;
    isOver = true;
    const committed = connection`COMMIT`.execute();
    await Promise.allSettled([committed]); // the last response to arrive
    await settle();
    if ((await committed).command !== "COMMIT") throw cause ?? new Error("a statement of the transaction had failed"); // so PostgreSQL rolled it back
    return result;
  } catch (error) {
    if (!isOver) await connection`ROLLBACK`.execute().catch(() => undefined); // the connection is lost, as the error says
    isOver = true;
    throw errorCodeOf(error) === afterFailure ? (cause ?? error) : error; // by now, all statements have been answered
  }
}
