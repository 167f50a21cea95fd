import { existsSync, statSync } from "node:fs";
import { probeNats } from "../../bus/nats.ts";
import type { Config } from "../../config.ts";
import { about } from "../../contract/documents/about.ts";
import { readStatus } from "../../services/nodes/nodes.ts";
import { readSchema, type SchemaState } from "../../store/migrate.ts";
import { migrations } from "../../store/migrations.ts";
import { readNodes } from "../../store/nodes/nodes.ts";
import { openOutbox } from "../../store/outbox/outbox.ts";
import { readPostgresFacts, readPostgresSizes } from "../../store/postgres/facts.ts";
import { connectPostgres } from "../../store/postgres/postgres.ts";
import { findUnsuitability } from "../../store/postgres/suitability.ts";
import type { Reader } from "../../store/sql/driver.ts";
import { refuseForeignLog } from "../../store/sqlite/own-files.ts";
import { openSqliteReader } from "../../store/sqlite/sqlite.ts";
import { databaseFileOf } from "../database.ts";
import { explainFile, findFileFault } from "../file-faults.ts";
import { type Finding, failure, ok, warning } from "./finding.ts";

const mebibyte = 2 ** 20;
const oldestPostgres = 150_000; // server_version_num of PostgreSQL 15
const mostSkewMs = 2_000;
const lateMs = 10_000;
const slowRttMs = 20;

/** Opens the configured database for reading; `undefined` if it does not exist yet. */
async function withDatabase<Result>(
  config: Config,
  use: (reader: Reader) => Promise<Result>,
): Promise<Result | undefined> {
  const { HERALD_DATABASE_URL: url } = config;
  const file = databaseFileOf(config);
  if (url === undefined && !existsSync(file)) return undefined;
  if (url === undefined) refuseForeignLog(file);
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
  try {
    return (await withDatabase(config, (reader) => readSchema(reader))) ?? nothing;
  } catch (error) {
    throw config.HERALD_DATABASE_URL === undefined ? explainFile(error, config) : error;
  }
}

/** Whether the database can be used, by which versions, and what the next start does to it. */
export async function checkDatabase(config: Config): Promise<Finding[]> {
  const { HERALD_DATABASE_URL: url } = config;
  const unsuitability = url === undefined ? undefined : await findUnsuitability(url);
  if (unsuitability !== undefined) return [failure("database", unsuitability.is, unsuitability.advice)];
  const examined = withDatabase(config, async (reader) => {
    const schema = await readSchema(reader);
    return [
      ...(url === undefined
        ? [ok("database", `SQLite, ${Math.ceil(statSync(databaseFileOf(config)).size / mebibyte)} MiB`)]
        : await describeServer(reader)),
      describeSchema(schema),
      ...(url === undefined || schema.version === 0 ? [] : [await describeNodes(reader)]),
    ];
  });
  try {
    return (await examined) ?? [ok("database", "there is none yet; the first start creates it")];
  } catch (error) {
    const fault = url === undefined ? findFileFault(error) : undefined;
    if (fault === undefined) throw error;
    return [failure("database", fault.is, fault.advice)];
  }
}

async function describeServer(reader: Reader): Promise<Finding[]> {
  const askedAt = Date.now();
  const { version, versionNumber, nowMs } = await readPostgresFacts(reader);
  const rttMs = Date.now() - askedAt;
  const { bytes } = await readPostgresSizes(reader);
  const detail = `PostgreSQL ${version}, ${Math.ceil(bytes / mebibyte)} MiB`;
  const upgrade = "upgrade to PostgreSQL 15, which Herald is tested on";
  return [
    versionNumber < oldestPostgres ? warning("database", detail, upgrade) : ok("database", detail),
    describeSkew(Math.round(nowMs - (askedAt + rttMs / 2)), rttMs),
  ];
}

function describeSkew(skewMs: number, rttMs: number): Finding {
  const detail = `this machine's clock and the database's differ by ${Math.abs(skewMs)} ms`;
  if (Math.abs(skewMs) <= mostSkewMs + rttMs) return ok("clock", detail);
  return warning("clock", detail, "synchronize both clocks (NTP): tokens expire by this one");
}

async function describeNodes(reader: Reader): Promise<Finding> {
  const nodes = (await readNodes(reader)).map(readStatus);
  const versions = [...new Set(nodes.map(({ version }) => version))];
  if (nodes.length === 0) return ok("nodes", "none is running");
  const detail = `${nodes.length} of version ${versions.join(" and ")}`;
  if (versions.length === 1 && versions[0] === about.version) return ok("nodes", detail);
  const advice = `this is version ${about.version}; two releases may share a database only while nodes are replaced`;
  return warning("nodes", detail, advice);
}

function describeSchema({ version, known, pending, keepsOlder, isTooNew }: SchemaState): Finding {
  const subject = "schema";
  if (isTooNew) {
    const detail = `a newer version of Herald has migrated the database, and this one knows only ${known} migrations`;
    return failure(subject, detail, "start that version, or restore a backup made before it");
  }
  if (version === 0) return ok(subject, "none yet; the next start creates it");
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
  return [warning("bus", detail, "move NATS closer: every delivery between nodes waits for it")];
}

/** Whether the outbox can be read, if there is one. */
export async function checkOutbox({ HERALD_OUTBOX_URL: url }: Config): Promise<Finding[]> {
  if (url === undefined) return [];
  const table = openOutbox(url, 0);
  try {
    const waitingMs = await table.oldestMs();
    if (waitingMs < lateMs) return [ok("outbox", waitingMs === 0 ? "empty" : "rows are waiting")];
    const detail = `its oldest row has been waiting for ${Math.round(waitingMs / 1000)} s`;
    const advice = "look at the logs of the nodes: they cannot read it, or cannot store what it sends";
    return [warning("outbox", detail, advice)];
  } finally {
    await table.close();
  }
}
