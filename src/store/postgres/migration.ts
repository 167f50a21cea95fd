import { SQL } from "bun";
import type { MigrationSession, TellMigration, Transaction } from "../sql/driver.ts";
import { createLastWrites } from "../sql/last-writes.ts";

// A key of its own: the Heralds before schema version 9 wait for theirs within a statement that may take 10 s.
const tryLock = "SELECT pg_try_advisory_lock(4715082) AS locked";
const connectTimeoutSeconds = 5;
const tryLockEveryMs = 500;
const tellEveryMs = 10_000;

// While a statement waits for a table, all that comes after it waits behind it.
const lockMayTakeMs = 200;
const lockTries = 200;
const longestPauseMs = 5_000;
const lockNotAvailable = /^(55P03|40P01)$/; // or a deadlock, SQLSTATE (PostgreSQL, appendix A)

const findIndex = "SELECT indisvalid AS valid FROM pg_index WHERE indexrelid = to_regclass(CAST(? AS text))";

type Connection = Pick<SQL, "unsafe">;
type Statements = Omit<Transaction, "lastly">;
type Options = { url: string; statementsOn(connection: Connection): Statements; tell: TellMigration };

/**
 * Runs `work` on a connection of its own, without time limits. The lock belongs to the session, so it ends with the connection,
 * however that ends. It is polled, since a statement that waits for it would hold up `CREATE INDEX CONCURRENTLY`, which waits for
 * every statement that began before it. A lost connection is not made anew: without the lock nothing more is done.
 */
export async function runMigration<Result>(
  { url, statementsOn, tell }: Options,
  work: (session: MigrationSession) => Promise<Result>,
): Promise<Result> {
  const pool = new SQL(url, {
    max: 1,
    connectionTimeout: connectTimeoutSeconds,
    connection: {
      application_name: "herald migration",
      statement_timeout: 0,
      idle_in_transaction_session_timeout: 0,
      lock_timeout: 0,
      client_connection_check_interval: 5_000, // so that the server notices within a statement that the node is gone
      synchronous_commit: "on",
    },
  });
  try {
    const connection = await pool.reserve();
    const sql = statementsOn(connection);
    await waitForTurn(sql, tell);
    return await work({
      all: sql.all,
      run: sql.run,
      transaction: (part) => retryForLock(() => runTransaction(connection, (lastly) => part({ ...sql, lastly })), tell),
      createIndex: (statement) => retryForLock(() => createIndex(sql, statement), tell),
    });
  } finally {
    await pool.close({ timeout: 0 });
  }
}

async function waitForTurn(sql: Statements, tell: TellMigration): Promise<void> {
  let toldAt = Number.NEGATIVE_INFINITY;
  for (;;) {
    const [row] = await sql.all<{ locked: number }>(tryLock);
    if (row?.locked) return;
    if (performance.now() - toldAt >= tellEveryMs) {
      tell("waiting for another node to migrate the database", {});
      toldAt = performance.now();
    }
    await Bun.sleep(tryLockEveryMs);
  }
}

async function runTransaction<Result>(
  connection: Connection,
  work: (lastly: Transaction["lastly"]) => Promise<Result>,
): Promise<Result> {
  await connection.unsafe("BEGIN");
  try {
    await connection.unsafe(`SET LOCAL lock_timeout = ${lockMayTakeMs}`);
    const { lastly, settle } = createLastWrites();
    const result = await work(lastly);
    await settle();
    await connection.unsafe("COMMIT");
    return result;
  } catch (error) {
    await connection.unsafe("ROLLBACK").catch(() => undefined); // the connection is lost, and the error says so
    throw error;
  }
}

/** An index that was left half made, by a node that died or for want of a lock, is dropped first. */
async function createIndex(sql: Statements, statement: string): Promise<void> {
  const [, name = ""] = /INDEX CONCURRENTLY (\w+) ON/.exec(statement) ?? [];
  const [index] = await sql.all<{ valid: number }>(findIndex, name);
  if (index?.valid) return;
  if (index !== undefined) await sql.run(`DROP INDEX CONCURRENTLY ${name}`);
  await sql.run(statement);
}

async function retryForLock<Result>(attempt: () => Promise<Result>, tell: TellMigration): Promise<Result> {
  for (let tries = 1; ; tries++) {
    try {
      return await attempt();
    } catch (error) {
      if (tries === lockTries || !isLockNotAvailable(error)) throw error;
      tell("the migration is waiting for a table that is in use", { tries });
      await Bun.sleep(Math.min(longestPauseMs, tries * lockMayTakeMs));
    }
  }
}

function isLockNotAvailable(error: unknown): boolean {
  return error instanceof Error && "errno" in error && lockNotAvailable.test(String(error.errno));
}
