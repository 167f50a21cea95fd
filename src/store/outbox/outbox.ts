import { SQL } from "bun";
import { unavailable } from "../../contract/errors/errors.ts";
import type { Problem } from "../../contract/errors/problem.ts";
import type { Turn } from "../../lib/queues/queue.ts";
import { createPool } from "../postgres/pool.ts";
import { isReadOnly } from "../postgres/refusals.ts";
import { errorCodeOf } from "../sql/driver.ts";
import type { OutboxEnd, OutboxRow, OutboxTable } from "./ports.ts";

const channel = "herald_outbox";
const connections = { connections: 4, depth: 1, share: 1 };
const connectTimeoutSeconds = 5;
const statementMs = 10_000;
// While rows are being sent, their transaction is idle.
const transactionMs = 25_000;
const deadlineMs = 30_000;
const page = { rows: 256, bytes: 1024 * 1024 };
const largestInt = 2 ** 31 - 1;
const listenAgainMs = 2_000;
const setupAdvice =
  "the database of HERALD_OUTBOX_URL has no outbox, or Herald may not use it; run there what `herald outbox sql` prints";
const missing = /^(42P01|3F000|42501)$/; // a table, a schema or a right; SQLSTATE, PostgreSQL appendix A
const lockSeed = 4_865_726; // apart from the advisory locks of other programs

/**
 * Connects to the caller's PostgreSQL database. Nothing is asked before the first call, and a lost connection comes back. Longer
 * requests than `mostBytes` are not read.
 */
export function openOutbox(url: string, mostBytes: number): OutboxTable {
  const connect = () =>
    new SQL(url, {
      max: 1,
      connectionTimeout: connectTimeoutSeconds,
      connection: {
        application_name: "herald outbox",
        default_transaction_isolation: "read committed", // the database may have another default
        statement_timeout: statementMs,
        idle_in_transaction_session_timeout: transactionMs,
      },
    });
  const pool = createPool({
    connect,
    ...connections,
    deadlineMs,
    waitMs: deadlineMs,
    onSilence: (since) => pool.doubt(since),
    isUseless: isReadOnly,
  });
  const ear = new SQL(url, { max: 1, connectionTimeout: connectTimeoutSeconds });
  let isClosed = false;

  /** Bun listens again by itself, but only once it has listened. */
  async function listen(onRows: () => void): Promise<void> {
    while (!isClosed) {
      try {
        await ear.listen(channel, onRows, onRows);
        return;
      } catch {
        await Bun.sleep(listenAgainMs); // until then, looks at regular times find what is committed
      }
    }
  }

  async function use<Result>(turn: Turn, run: (sql: SQL) => Promise<Result>): Promise<Result> {
    try {
      return await pool.use(turn, run);
    } catch (error) {
      throw missing.test(errorCodeOf(error)) ? new Error(setupAdvice, { cause: error }) : error;
    }
  }

  return {
    async organizations(after, limit) {
      const rows: { organization: string }[] = await use(
        "batch",
        // One look at the index for each organization, however many rows it has.
        (sql) => sql`
          WITH RECURSIVE waiting (organization) AS (
            (SELECT organization FROM herald.outbox ${after === undefined ? sql`` : sql`WHERE organization > ${after}`} ORDER BY organization LIMIT 1)
            UNION ALL
            SELECT (SELECT o.organization FROM herald.outbox o WHERE o.organization > w.organization ORDER BY o.organization LIMIT 1)
            FROM waiting w WHERE w.organization IS NOT NULL
          )
          SELECT organization FROM waiting WHERE organization IS NOT NULL LIMIT ${limit}`,
      );
      return rows.map(({ organization }) => organization);
    },
    take: (org, end) =>
      use({ of: org }, (sql) =>
        sql.begin("isolation level read committed", async (transaction) => {
          const [lock] = await transaction`
            SELECT pg_try_advisory_xact_lock(hashtextextended(${org}, ${lockSeed})) AS is_ours`;
          if (lock?.is_ours !== true) return undefined;
          const found: (Omit<OutboxRow, "request"> & { request: string | null })[] = await transaction`
            SELECT position::text AS position, id::text AS id,
              CASE WHEN octet_length(request) <= ${Math.min(mostBytes, largestInt)} THEN request END AS request
            FROM (
              SELECT position, id, request, row_number() OVER counting AS number, sum(octet_length(request)) OVER counting AS bytes
              FROM (
                SELECT position, id, request::text AS request FROM herald.outbox
                WHERE organization = ${org} ORDER BY position LIMIT ${page.rows}
              ) AS first
              WINDOW counting AS (ORDER BY position)
            ) AS counted
            WHERE number = 1 OR bytes <= ${page.bytes}
            ORDER BY number`;
          const rows = found.map((row) => ({ ...row, request: row.request ?? undefined }));
          if (rows.length > 0) await remove(transaction, await end(rows));
          return rows.length;
        }),
      ),
    async oldestMs() {
      const [row] = await use(
        "batch",
        (sql) => sql`
          SELECT coalesce(extract(epoch FROM clock_timestamp() - created_at) * 1000, 0)::float8 AS ms
          FROM herald.outbox ORDER BY position LIMIT 1`,
      );
      return Math.max(0, Number(row?.ms ?? 0));
    },
    listen: (onRows) => void listen(onRows),
    async close() {
      isClosed = true;
      await Promise.all([pool.close(), ear.close({ timeout: 0 })]);
    },
  };
}

/** Removes rows that have ended, and keeps the refused ones with their problem. */
async function remove(transaction: Bun.TransactionSQL, ended: OutboxEnd[]): Promise<void> {
  if (ended.length === 0) return;
  const refused = ended.flatMap(({ row, problem }) =>
    problem === undefined ? [] : { position: row.position, problem: storableOf(problem) },
  );
  if (refused.length > 0)
    await transaction`
      INSERT INTO herald.outbox_refused (position, id, organization, request, created_at, problem)
      SELECT position, id, organization, request, created_at, problem
      FROM herald.outbox
      JOIN jsonb_to_recordset(${JSON.stringify(refused)}::text::jsonb) AS refused (position bigint, problem jsonb) USING (position)
      ON CONFLICT DO NOTHING`;
  const positions = ended.map(({ row }) => row.position).join(",");
  const removed = await transaction`
    DELETE FROM herald.outbox WHERE position = ANY (string_to_array(${positions}, ',')::bigint[])`;
  if (removed.count < ended.length)
    throw unavailable({ detail: `another program removed ${ended.length - removed.count} rows of herald.outbox` });
}

/** A problem that `jsonb` takes: a detail may quote half a character of a request. */
const storableOf = (problem: Problem): unknown =>
  JSON.parse(JSON.stringify(problem), (_, value: unknown) =>
    typeof value === "string" ? value.toWellFormed().replaceAll("\0", "\uFFFD") : value,
  );
