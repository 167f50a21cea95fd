import { SQL } from "bun";
import { createThreadScheduler, type ThreadScheduler } from "../../lib/event-loop/thread-scheduler.ts";
import type { Turn } from "../../lib/queues/queue.ts";
import { createId } from "../../lib/text/ids.ts";
import { migrateStore } from "../migrate.ts";
import { migrations } from "../migrations.ts";
import { createBusSecrets, createNodeRegistry } from "../nodes/nodes.ts";
import { postgresDialect } from "../sql/dialect.ts";
import { type Driver, type Reader, type Row, type Sql, type SqlValue, unowned } from "../sql/driver.ts";
import { createRewriting } from "../sql/rewriting.ts";
import { createStore, createWrites, type Database, type DatabaseEvents, type Writes } from "../store.ts";
import { readPostgresSizes } from "./facts.ts";
import { grantServing } from "./grants.ts";
import { runMigration } from "./migration.ts";
import { createPlans } from "./plans.ts";
import { createPool, type Pool, type PoolSize } from "./pool.ts";
import { isReadOnly, translate } from "./refusals.ts";
import { findUnsuitability, UnsuitableDatabaseError } from "./suitability.ts";
import { type Ask, runTransaction, setEveryOrganization, setOrganizations, statementsOf } from "./transaction.ts";

// How many connections a pool has, and how many calls are in flight per connection and per organization; measured in
// docs/decisions/0003.
const runsUntilPlanned = 6; // PostgreSQL plans a statement anew for each of its first five runs
const single: PoolSize = { connections: 1, depth: 1, share: 1 };
const sending: PoolSize = { connections: 2, depth: 1, share: 2, staysReady: true };
const reading: PoolSize = { connections: 8, depth: 4, share: 8 };
const connectTimeoutSeconds = 5;
const leaveEveryMs = 5_000;
const lookEveryMs = 10_000; // besides, each heartbeat writes

// A transaction finds all its rows by an index. PostgreSQL expects a hundred rows from any JSON array, and to find those
// would read a whole table of up to some 20,000 rows. (A plan without an index then costs enough to be compiled.)
const byKeys = { enable_seqscan: "off", jit: "off" };

/** Time limits in milliseconds. */
type Times = {
  /** After this, the server cancels a statement. */
  statement: number;
  /** After this, the server ends a transaction whose node is silent, so that its locks do not outlive a frozen node. */
  idleTransaction: number;
  /** After this, an unanswered call means a frozen server, and its connection is replaced. */
  deadline: number;
  /** After this, a call still waiting for a connection is refused. */
  wait: number;
};

// Shorter than this, clients wait 10 s to be admitted: under load, they are told when to return before the reads of others fail.
const defaultTimes: Times = { statement: 10_000, idleTransaction: 10_000, deadline: 15_000, wait: 12_000 };

type Options = Partial<Times> & {
  /** The tables' owner, who migrates and grants the serving user its access; without it, the serving user migrates. */
  migrationUrl?: string | undefined;
  /** Called when a connection was replaced after it was lost or abandoned. */
  onReconnect?: (() => void) | undefined;
};

/** The session settings of a pool's connections, and what is called after each call that succeeded. */
type PoolOptions = { settings?: Record<string, string>; onUse?(): void };

const findExemption = "SELECT 1 AS one FROM pg_roles WHERE rolname = current_user AND (rolsuper OR rolbypassrls)";
const exemptionAdvice =
  "the database user is a superuser or has BYPASSRLS, so row-level security does not apply to it; give Herald an ordinary user that owns the database (see docs/how-to/run-a-cluster.md)";

/**
 * Connects to PostgreSQL. Two connections store batches of sends, so that neither other changes nor organizations that send much
 * delay a commit; one makes all other changes, one removes old rows, and a bounded pool reads, from the primary as well. The next
 * call reopens a lost connection. A commit is on the primary's disk before it resolves (`synchronous_commit=on`).
 */
export function connectPostgres(url: string, options: Options = {}): Driver {
  const { statement, idleTransaction, deadline, wait, migrationUrl, onReconnect } = { ...defaultTimes, ...options };

  function open(size: PoolSize, { settings = {}, onUse = () => undefined }: PoolOptions = {}): Pool {
    let made = 0;
    const connect = () => {
      let isFirst = made++ < size.connections;
      return new SQL(url, {
        max: 1,
        connectionTimeout: connectTimeoutSeconds,
        connection: {
          application_name: "herald",
          statement_timeout: statement,
          idle_in_transaction_session_timeout: idleTransaction,
          synchronous_commit: "on",
          default_transaction_isolation: "read committed", // for single statements: the database may have another default
          ...settings,
        },
        onconnect: (error) => {
          if (error !== null) return;
          if (!isFirst) onReconnect?.();
          isFirst = false;
        },
      });
    };
    const pool = createPool({
      connect,
      ...size,
      deadlineMs: deadline,
      waitMs: wait,
      onSilence: (since) => {
        for (const each of pools()) each.doubt(since);
      },
      isUseless: isReadOnly,
    });
    return {
      ...pool,
      async use(turn, run) {
        try {
          const result = await pool.use(turn, run);
          onUse();
          return result;
        } catch (error) {
          if (isReadOnly(error)) leaveReadOnly();
          throw translate(error);
        }
      },
    };
  }

  const pools = () => [sender, writer, maintenance, readers];

  /**
   * After a failover, this server may be the standby. While it refuses writes, all connections are reopened from time to time,
   * including those that read, which would not see what is written elsewhere.
   */
  function leaveReadOnly(): void {
    isReadOnlyNow = true;
    const now = performance.now();
    if (now - leftReadOnlyAt < leaveEveryMs) return;
    leftReadOnlyAt = now;
    for (const pool of pools()) pool.retire();
  }

  /** Connections for reading may still lead to the server that refused. */
  function noteWrite(): void {
    if (!isReadOnlyNow) return;
    isReadOnlyNow = false;
    readers.retire();
  }

  let isReadOnlyNow = false;
  let leftReadOnlyAt = Number.NEGATIVE_INFINITY;
  const writing: PoolOptions = { settings: byKeys, onUse: noteWrite }; // locks rows in each transaction, which proves that writes work
  const sender = open(sending, writing);
  const writer = open(single, writing);
  const maintenance = open(single, { settings: byKeys });
  const readers = open(reading);
  const plans = createPlans();
  const numbered = createRewriting(numberParameters);
  const limited = createRewriting((query) => within(setOrganizations, query));
  const everywhere = createRewriting((query) => within(setEveryOrganization, query));

  function sqlOn(ask: Ask): Sql {
    return {
      all: <Shape extends Row>(text: string, ...values: SqlValue[]) =>
        ask<Shape[]>((connection) => connection.unsafe(numbered(text), values).execute()),
      run: (text, ...values) =>
        ask(async (connection) => {
          const answer: { count: number | null } = await connection.unsafe(numbered(text), values).execute();
          const count = answer.count ?? 0;
          plans.onWrite(count);
          return count;
        }),
    };
  }

  function statementsOn(connection: Pick<SQL, "unsafe">) {
    const ask: Ask = (query) => query(connection);
    return statementsOf(sqlOn, ask, ask);
  }

  const readsIn = (turn: Turn) =>
    sqlOn((query) =>
      readers.use(turn, (connection) => {
        plans.refresh(connection);
        return query(connection);
      }),
    );
  const reads = readsIn(unowned);

  return {
    ...reads,
    allOf: (org, text, ...values) =>
      readsIn(typeof org === "string" ? { of: org } : unowned).all(
        limited(text),
        JSON.stringify([org].flat()),
        ...values,
      ),
    allOfEvery: (text, ...values) => reads.all(everywhere(text), ...values),
    dialect: postgresDialect,
    transaction: (work, turn = unowned) =>
      (turn === "batch" ? sender : writer).use(turn, (idle) => runTransaction(idle, { sqlOn, plans }, work)),
    aside: (work, turn = unowned) => maintenance.use(turn, (idle) => runTransaction(idle, { sqlOn, plans }, work)),
    async migration(work, tell) {
      if (migrationUrl === undefined) return await runMigration({ url, statementsOn, tell }, work);
      const [user] = await reads.all<{ name: string }>("SELECT CAST(current_user AS text) AS name");
      return await runMigration({ url: migrationUrl, statementsOn, tell }, async (session) => {
        const result = await work(session);
        const [owner] = await session.all<{ name: string }>("SELECT CAST(current_user AS text) AS name");
        if (user !== undefined && user.name !== owner?.name) await grantServing(session, user.name, migrations);
        return result;
      });
    },
    async close() {
      await Promise.all(pools().map((pool) => pool.close()));
    },
  };
}

type OpenOptions = Partial<DatabaseEvents> &
  Pick<Options, "migrationUrl"> & {
    /** The scheduler of this thread; without it, the database has the thread to itself. */
    thread?: ThreadScheduler | undefined;
  };

/**
 * Opens a PostgreSQL database and brings its schema up to date; nodes that start together take turns. Rejects with
 * `UnsuitableDatabaseError` if it cannot be used at all.
 */
export async function openPostgres(
  url: string,
  announce: DatabaseEvents["announce"],
  { thread = createThreadScheduler(), onReconnect, onMigration, migrationUrl }: OpenOptions = {},
): Promise<Database> {
  const unsuitability = await findUnsuitability(url);
  if (unsuitability !== undefined) throw new UnsuitableDatabaseError(unsuitability);
  const driver = connectPostgres(url, { onReconnect, migrationUrl });
  try {
    const migrated = await migrateStore(driver, { tell: onMigration });
    await driver.all("SELECT version FROM schema_version"); // checks that the serving user can reach and read the migrated database
    const [role] = await driver.all<Row>(findExemption);
    const writes = createWrites({ driver, thread, announce });
    void warmUp(driver, writes);
    return {
      reader: driver,
      writes,
      nodes: createNodeRegistry(driver),
      busSecrets: createBusSecrets(driver),
      overlap: { depth: 2, byKey: true },
      sizes: () => readPostgresSizes(driver),
      watch: { look: () => writes.trial.run(0), everyMs: lookEveryMs },
      migrated,
      advice: role === undefined ? undefined : exemptionAdvice,
      close: driver.close,
    };
  } catch (error) {
    await driver.close();
    throw error;
  }
}

/**
 * Opens the connections for sends and reads, and prepares their most frequent statements on each, with sends and reads of an
 * organization that does not exist: the first statement on a new connection takes PostgreSQL up to 80 ms, the first five runs of
 * each statement some 3 ms more, and many callers at once would wait for all of that.
 */
async function warmUp(reader: Reader, writes: Writes): Promise<void> {
  const id = createId();
  const nowhere = { org: "", kind: "message", cid: "", sender: "", payload: "", fingerprint: "", keyId: "" } as const;
  const send = { ...nowhere, id, mid: id, uids: undefined, createdAt: 0 };
  const onEach = async (connections: number, run: () => Promise<unknown>) => {
    for (let times = 0; times < runsUntilPlanned; times++)
      await Promise.allSettled(Array.from({ length: connections }, run)); // if it fails, the first caller sees why
  };
  await onEach(sending.connections, () => writes.batches.appendAll([send]));
  const store = createStore({ reader, writes, announce: () => undefined });
  const { log, participants, standing, missed, history, files } = store;
  const reads: (() => Promise<unknown>)[] = [
    () => log.heads([""]),
    () => participants.has("", "", ""),
    () => standing.snapshot("", "", undefined),
    () => standing.conversations("", "", { after: undefined, limit: 1 }),
    () => missed.findMessage("", ""),
    () => missed.countMissed("", "", 0, 0, 1),
    () => missed.findGrown("", "", 0),
    () => missed.readMissed("", "", 0, 0, 1, 1),
    () => history.messages("", "", { direction: "backward", limit: 1, maxBytes: 1 }),
    () => history.lastPlaces("", [""], ""),
    () => history.messagesAt("", [0]),
    () => files.readableBy("", "", [""]),
    () => files.get("", ""),
  ];
  for (const read of reads) await onEach(reading.connections, read);
}

/**
 * Wraps a query so that it first sets the organizations it may see, by another query whose parameters come before its
 * own: one statement instead of a transaction of four. The inner offset is always 0, but depends on the setting, so
 * PostgreSQL applies the setting before it reads the first row. If it ever read first, it would find none.
 */
function within(setting: string, query: string): string {
  return `WITH limited AS MATERIALIZED (${setting})
    SELECT found.* FROM limited CROSS JOIN LATERAL (SELECT * FROM (${query}) AS asked OFFSET LENGTH(limited.orgs) * 0) AS found`;
}

/** Replaces question marks by `$1`, `$2` and so on. */
function numberParameters(text: string): string {
  let count = 0;
  return text.replaceAll("?", () => `$${++count}`);
}
