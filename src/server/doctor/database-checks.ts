import { existsSync, statSync } from "node:fs";
import { join } from "node:path";
import { probeNats } from "../../bus/nats.ts";
import type { Config } from "../../config.ts";
import { readSchema, type SchemaState } from "../../store/migrate.ts";
import { migrations } from "../../store/migrations.ts";
import { connectPostgres } from "../../store/postgres/postgres.ts";
import type { Reader, Row } from "../../store/sql/driver.ts";
import { openSqliteReader } from "../../store/sqlite/sqlite.ts";
import { type Finding, ok } from "./finding.ts";

const mebibyte = 2 ** 20;
const oldestPostgres = 150_000; // server_version_num of PostgreSQL 15
const mostSkewMs = 2_000;
const slowRttMs = 20;

/** Opens the configured database for reading; `undefined` if it does not exist yet. */
async function withDatabase<Result>(
  config: Config,
  use: (reader: Reader) => Promise<Result>,
): Promise<Result | undefined> {
  const { HERALD_DATABASE_URL: url, HERALD_DATA_DIR: folder } = config;
  const file = join(folder, "herald.db");
  if (url === undefined && !existsSync(file)) return undefined;
  const driver: Reader & { close(): void | Promise<void> } =
    url === undefined ? openSqliteReader(file) : connectPostgres(url);
  try {
    return await use(driver);
  } finally {
    await driver.close();
  }
}

/** What a start would do to the configured database; if there is none, it creates one. */
export async function readSchemaOf(config: Config): Promise<SchemaState> {
  const nothing = { version: 0, known: migrations.length, pending: [], keepsOlder: true, isTooNew: false };
  return (await withDatabase(config, (reader) => readSchema(reader))) ?? nothing;
}

/** Whether the database can be used, by which versions, and what the next start does to it. */
export async function checkDatabase(config: Config): Promise<Finding[]> {
  const { HERALD_DATABASE_URL: url, HERALD_DATA_DIR: folder } = config;
  const found = await withDatabase(config, async (reader) => [
    ...(url === undefined ? [describeFile(join(folder, "herald.db"))] : await describeServer(reader)),
    describeSchema(await readSchema(reader)),
  ]);
  return found ?? [ok("database", "there is none yet; the first start creates it")];
}

function describeFile(file: string): Finding {
  return ok("database", `SQLite, ${Math.ceil(statSync(file).size / mebibyte)} MiB`);
}

async function describeServer(reader: Reader): Promise<Finding[]> {
  const askedAt = Date.now();
  const [row] = await reader.all<{ version: string; number: string; now: number }>(
    `SELECT current_setting('server_version') AS version, current_setting('server_version_num') AS number,
      CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT) AS now`,
  );
  const answeredAt = Date.now();
  const rttMs = answeredAt - askedAt;
  const [size] = await reader.all<Row>("SELECT pg_database_size(current_database()) / 1048576 AS mebibytes");
  const detail = `PostgreSQL ${row?.version}, ${size?.mebibytes} MiB`;
  const findings: Finding[] =
    Number(row?.number) >= oldestPostgres
      ? [ok("database", detail)]
      : [
          {
            subject: "database",
            state: "warning",
            detail,
            advice: "upgrade to PostgreSQL 15, which Herald is tested on",
          },
        ];
  const skewMs = Math.round(Number(row?.now) - (askedAt + rttMs / 2));
  const skew = `this machine's clock and the database's differ by ${Math.abs(skewMs)} ms`;
  const isSkewed = Math.abs(skewMs) > mostSkewMs + rttMs;
  findings.push(
    isSkewed
      ? {
          subject: "clock",
          state: "warning",
          detail: skew,
          advice: "synchronize both clocks (NTP): tokens expire by this one",
        }
      : ok("clock", skew),
  );
  return findings;
}

function describeSchema({ version, known, pending, keepsOlder, isTooNew }: SchemaState): Finding {
  const subject = "schema";
  if (isTooNew) {
    const detail = `a newer version of Herald has migrated the database, and this one knows only ${known} migrations`;
    return { subject, state: "failure", detail, advice: "start that version, or restore a backup made before it" };
  }
  if (pending.length === 0) return ok(subject, `version ${version}, up to date`);
  const older = keepsOlder
    ? "older versions can still use the database afterwards"
    : "older versions cannot use it afterwards";
  return ok(subject, `version ${version}; the next start migrates it to ${known}, and ${older}`);
}

/** Whether the bus answers. */
export async function checkBus({ HERALD_BUS_URL: url, HERALD_DATABASE_URL: databaseUrl }: Config): Promise<Finding[]> {
  if (url === undefined) {
    return [ok("bus", databaseUrl === undefined ? "none, as there is one node" : "none: this node runs alone")];
  }
  const { version, rttMs } = await probeNats(url);
  const detail = `NATS ${version}, a round trip takes ${rttMs} ms`;
  if (rttMs < slowRttMs) return [ok("bus", detail)];
  return [
    { subject: "bus", state: "warning", detail, advice: "move NATS closer: every delivery between nodes waits for it" },
  ];
}
