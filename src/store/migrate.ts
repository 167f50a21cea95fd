import { pauseAfter, rowsOfStatement } from "../lib/queues/steps.ts";
import { lastOfOld, type Migration, migrations, type Step } from "./migrations.ts";
import type { Dialect } from "./sql/dialect.ts";
import {
  type Driver,
  limitToAll,
  type MigrationSession,
  type Reader,
  type Row,
  type Sql,
  type SqlValue,
  type TellMigration,
} from "./sql/driver.ts";
import { between, lastOfFirst } from "./sql/key-range.ts";

const tellEveryMs = 10_000;

const rowSecurityOnly = /\b(ROW LEVEL SECURITY|CREATE POLICY)\b/;

// Older versions look only at `schema_version`, and refuse a version they do not know. So it holds the oldest version
// that may use the database, and progress is kept in a table of its own. Tables are created only if missing, as a user
// that owns nothing may not even run CREATE TABLE IF NOT EXISTS.
const tables = {
  schema_version: "CREATE TABLE IF NOT EXISTS schema_version (version BIGINT NOT NULL)",
  schema_step: `CREATE TABLE IF NOT EXISTS schema_step (migration BIGINT NOT NULL, step BIGINT NOT NULL, name TEXT NOT NULL,
    place TEXT, rows BIGINT NOT NULL, took_ms BIGINT NOT NULL, done_at BIGINT, PRIMARY KEY (migration, step))`,
};

type StepRow = Row & {
  migration: number;
  step: number;
  place: string | null;
  rows: number;
  took_ms: number;
  done_at: number | null;
};
type Progress = { place?: SqlValue[]; rows: number; tookMs: number; isDone: boolean };
type Numbered = { number: number; migration: Migration };
type Run = { session: MigrationSession; dialect: Dialect; tell: TellMigration };

type Options = {
  /** The last migration to run, for tests; all by default. */
  to?: number;
  known?: readonly Migration[];
  tell?: TellMigration | undefined;
};

/**
 * Brings the schema up to date while nodes of the previous version go on working. Each step commits on its own; after
 * an interruption, the next start resumes there. Returns the number of the last migration before and after; equal if
 * there was nothing to do. Rejects if a newer version has made the database unusable for this one.
 */
export async function migrateStore(driver: Driver, options: Options = {}): Promise<{ from: number; to: number }> {
  const { known = migrations, tell = () => undefined, to = known.length } = options;
  return await driver.migration(async (session) => {
    const database = { session, dialect: driver.dialect };
    const { from, steps } = await readState(database, known);
    // Migrating a new database takes no time and disturbs nobody.
    const run: Run = { ...database, tell: from === 0 ? () => undefined : tell };
    const wanted = known.slice(0, to).map((migration, index): Numbered => ({ number: index + 1, migration }));
    const isCreated = from === 0 && steps.length === 0 && (await createSchema(run, wanted));
    for (const one of isCreated ? [] : wanted) if (one.number > from) await runMigration(run, one, steps);
    await session.transaction(async (sql) => {
      for (const statement of driver.dialect.statistics) await sql.run(statement);
    });
    return { from, to: Math.max(from, to) };
  }, tell);
}

/** The schema of a database, as this version of Herald finds it. */
export type SchemaState = {
  /** The number of the last finished migration; 0 for an empty database. */
  version: number;
  /** The last one that this version knows. */
  known: number;
  /** The names of those that the next start runs, in order. */
  pending: string[];
  /** Whether versions before this one can still use the database afterwards. */
  keepsOlder: boolean;
  /** Whether only a newer version can use the database. */
  isTooNew: boolean;
};

/** Reads what a start would do to a database, and changes nothing. */
export async function readSchema(reader: Reader, known: readonly Migration[] = migrations): Promise<SchemaState> {
  const exists = async (table: string) => (await reader.all(reader.dialect.findTable, table)).length > 0;
  const oldest = (await exists("schema_version")) ? await readVersion(reader) : 0;
  const steps = (await exists("schema_step")) ? await readSteps(reader) : [];
  const version = lastDone(known, oldest, steps);
  const pending = known.slice(version);
  return {
    version,
    known: known.length,
    pending: pending.map(({ name }) => name),
    keepsOlder: pending.every(({ kind }) => kind === "expand"),
    isTooNew: oldest > known.length,
  };
}

/** The progress of the database: the number of the last finished migration, and the recorded steps of later ones. */
async function readState({ session, dialect }: Omit<Run, "tell">, known: readonly Migration[]) {
  await session.transaction(async (sql) => {
    if (dialect.lockMigrations !== undefined) await sql.all(dialect.lockMigrations);
    for (const [name, create] of Object.entries(tables))
      if ((await sql.all(dialect.findTable, name)).length === 0) await sql.run(inDialect(create, dialect));
  });
  const oldest = await readVersion(session);
  if (oldest > known.length) {
    throw new Error(
      `the database has schema version ${oldest}, but this version of Herald only knows ${known.length}; start the newer Herald version that migrated it`,
    );
  }
  const steps = await readSteps(session);
  return { from: lastDone(known, oldest, steps), steps };
}

function readSteps(sql: Pick<Sql, "all">): Promise<StepRow[]> {
  return sql.all<StepRow>("SELECT migration, step, place, rows, took_ms, done_at FROM schema_step");
}

/** The number of the last finished migration. */
function lastDone(known: readonly Migration[], oldest: number, steps: readonly StepRow[]): number {
  const isDone = (number: number, index: number) => findStep(steps, number, index)?.done_at != null;
  const firstUndone = known.findIndex((migration, index) =>
    index < lastOfOld ? index >= oldest : !migration.steps.every((_, step) => isDone(index + 1, step)),
  );
  if (firstUndone !== -1) return firstUndone;
  return Math.max(known.length, ...steps.map(({ migration }) => Number(migration)));
}

/**
 * Creates the schema of an empty database in one transaction, which is flushed once. Returns whether it did: a node of an older
 * version may have been faster.
 */
async function createSchema({ session, dialect }: Run, wanted: readonly Numbered[]): Promise<boolean> {
  return await session.transaction(async (sql) => {
    if (dialect.lockMigrations !== undefined) await sql.all(dialect.lockMigrations);
    if ((await readVersion(sql)) > 0) return false;
    for (const one of wanted) {
      const { number, migration } = one;
      if (number <= lastOfOld || migration.kind === "contract") await raiseVersion(sql, number);
      for (const [index, step] of migration.steps.entries()) {
        if (step.kind === "statements") await runAll(sql, step.statements, dialect);
        if (step.kind === "index") await runAll(sql, [step.statement.replace(" CONCURRENTLY", "")], dialect);
        if (number > lastOfOld) await record(sql, one, index, { rows: 0, tookMs: 0, isDone: true });
      }
    }
    return true;
  });
}

async function runMigration(run: Run, of: Numbered, begun: readonly StepRow[]): Promise<void> {
  const { number, migration } = of;
  const { name, kind, steps } = migration;
  const startedAt = performance.now();
  // Versions that a contract excludes must not start while it runs.
  if (kind === "contract" && number > lastOfOld) await run.session.transaction((sql) => raiseVersion(sql, number));
  for (const [index, step] of steps.entries()) {
    const earlier = findStep(begun, number, index);
    if (earlier?.done_at != null) continue;
    run.tell("migrating the database", { migration: name, step: index + 1, steps: steps.length, what: step.kind });
    if (step.kind === "statements") await runStatements(run, of, index, step.statements);
    else if (step.kind === "index") await buildIndex(run, of, index, step.statement);
    else await backfill(run, of, index, step, earlier);
  }
  run.tell("migrated the database", { migration: name, took_ms: tookMs(startedAt) });
}

async function runStatements(run: Run, of: Numbered, index: number, statements: readonly string[]): Promise<void> {
  const { session, dialect } = run;
  const { number } = of;
  const startedAt = performance.now();
  await session.transaction(async (sql) => {
    if (number <= lastOfOld) {
      if (dialect.lockMigrations !== undefined) await sql.all(dialect.lockMigrations);
      if ((await readVersion(sql)) >= number) return; // a node of an older version was faster
      await raiseVersion(sql, number);
    }
    await runAll(sql, statements, dialect);
    if (number > lastOfOld) await record(sql, of, index, { rows: 0, tookMs: tookMs(startedAt), isDone: true });
  });
}

async function runAll(sql: Sql, statements: readonly string[], dialect: Dialect): Promise<void> {
  for (const statement of statements)
    if (dialect.hasRowSecurity || !rowSecurityOnly.test(statement)) await sql.run(inDialect(statement, dialect));
}

async function buildIndex({ session, dialect }: Run, of: Numbered, index: number, statement: string): Promise<void> {
  const startedAt = performance.now();
  await session.createIndex(inDialect(statement, dialect));
  await session.transaction((sql) => record(sql, of, index, { rows: 0, tookMs: tookMs(startedAt), isDone: true }));
}

/**
 * Changes a bounded number of rows per transaction in key order, up to the last row present at the beginning, as new
 * rows may come faster than the backfill proceeds.
 */
async function backfill(
  { session, dialect, tell }: Run,
  { number, migration }: Numbered,
  index: number,
  { statement, table, key }: Extract<Step, { kind: "backfill" }>,
  earlier: StepRow | undefined,
): Promise<void> {
  const startedAt = performance.now() - Number(earlier?.took_ms ?? 0);
  const columns = key.join(", ");
  let place: SqlValue[] | undefined = earlier?.place == null ? undefined : JSON.parse(earlier.place);
  let rows = Number(earlier?.rows ?? 0);
  let toldAt = performance.now();
  const end = await session.transaction(async (sql) => {
    await limitToAll(sql);
    const descending = key.map((column) => `${column} DESC`).join(", ");
    const [row] = await sql.all<Row>(`SELECT ${columns} FROM ${table} ORDER BY ${descending} LIMIT 1`);
    return row && Object.values(row);
  });
  const [about] =
    dialect.estimateRows === undefined ? [] : await session.all<{ rows: number }>(dialect.estimateRows, table);
  const of = about === undefined ? {} : { of_about: Number(about.rows) };
  for (let isDone = false; !isDone; ) {
    const begunAt = performance.now();
    const after = place;
    const batch = await session.transaction(async (sql) => {
      await limitToAll(sql);
      const last = end && (await lastOfFirst(sql, { table, key, ...between(key, after, end) }, rowsOfStatement));
      const range = last && between(key, after, last);
      const changed = range === undefined ? 0 : await sql.run(`${statement} AND ${range.where}`, ...range.values);
      const progress = {
        place: last ?? after ?? [],
        rows: rows + changed,
        tookMs: tookMs(startedAt),
        isDone: last === undefined,
      };
      await record(sql, { number, migration }, index, progress);
      return progress;
    });
    ({ place, rows, isDone } = batch);
    if (performance.now() - toldAt >= tellEveryMs) {
      toldAt = performance.now();
      const facts = { migration: migration.name, step: index + 1, rows, ...of, took_ms: batch.tookMs };
      tell("migrating the database", facts);
    }
    if (dialect.isShared) await Bun.sleep(pauseAfter(performance.now() - begunAt));
  }
}

async function record(sql: Sql, { number, migration }: Numbered, index: number, progress: Progress): Promise<void> {
  const { place, rows, tookMs, isDone } = progress;
  await sql.run(
    `INSERT INTO schema_step (migration, step, name, place, rows, took_ms, done_at) VALUES (?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT (migration, step) DO UPDATE
     SET place = excluded.place, rows = excluded.rows, took_ms = excluded.took_ms, done_at = excluded.done_at`,
    number,
    index,
    migration.name,
    place === undefined ? null : JSON.stringify(place),
    rows,
    tookMs,
    isDone ? Date.now() : null,
  );
}

async function readVersion(sql: Pick<Sql, "all">): Promise<number> {
  const [row] = await sql.all<{ version: number }>("SELECT version FROM schema_version");
  return Number(row?.version ?? 0);
}

async function raiseVersion(sql: Sql, version: number): Promise<void> {
  if ((await sql.run("UPDATE schema_version SET version = ? WHERE version < ?", version, version)) > 0) return;
  await sql.run(
    "INSERT INTO schema_version (version) SELECT CAST(? AS BIGINT) WHERE NOT EXISTS (SELECT 1 FROM schema_version)",
    version,
  );
}

function findStep(steps: readonly StepRow[], number: number, index: number): StepRow | undefined {
  return steps.find(({ migration, step }) => Number(migration) === number && Number(step) === index);
}

function inDialect(statement: string, { text }: Dialect): string {
  return statement.replaceAll(/\bTEXT\b/g, text);
}

function tookMs(startedAt: number): number {
  return Math.round(performance.now() - startedAt);
}
