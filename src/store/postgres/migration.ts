import { SQL } from "bun";
import {
  createLastWrites,
  errorCodeOf,
  type MigrationSession,
  type TellMigration,
  type Transaction,
} from "../sql/driver.ts";

// Has a key of its own: versions before schema version 9 wait for theirs inside a statement limited to 10 s.
const tryLock = "SELECT pg_try_advisory_lock(4715082) AS locked";
const connectTimeoutSeconds = 5;
const tryLockEveryMs = 500;
const tellEveryMs = 10_000;

// While a statement waits for a table, all later ones queue behind it.
const lockMayTakeMs = 200;
const lockTries = 200;
const longestPauseMs = 5_000;
const lockNotAvailable = /^(55P03|40P01)$/; // or deadlock_detected; SQLSTATE, PostgreSQL appendix A

const findIndex = "SELECT indisvalid AS valid FROM pg_index WHERE indexrelid = to_regclass(CAST(? AS text))";

type Connection = Pick<SQL, "unsafe">;
type Statements = Omit<Transaction, "lastly">;
type Options = { url: string; statementsOn(connection: Connection): Statements; tell: TellMigration };

/**
 * Runs `work` on a dedicated connection without time limits. The lock belongs to the session and ends with the
 * connection in any case. It is polled, as a statement waiting for it would block `CREATE INDEX CONCURRENTLY`, which
 * waits for all earlier statements. A lost connection is not reopened: without the lock, nothing more may be done.
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
      client_connection_check_interval: 5_000, // lets the server notice during a statement that its client is gone
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
    await connection.unsafe("ROLLBACK").catch(() => undefined); // the connection is lost, as the original error says
    throw error;
  }
}

/** First drops an index left incomplete by a node that died or timed out waiting for a lock. */
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
      if (tries === lockTries || !lockNotAvailable.test(errorCodeOf(error))) throw error;
      tell("the migration is waiting for a table that is in use", { tries });
      await Bun.sleep(Math.min(longestPauseMs, tries * lockMayTakeMs));
    }
  }
}
