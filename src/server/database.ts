import { accessSync, constants, mkdirSync } from "node:fs";
import { join } from "node:path";
import type { Logger } from "pino";
import { type Config, ConfigError } from "../config.ts";
import { HeraldError } from "../contract/errors/errors.ts";
import type { ThreadScheduler } from "../lib/event-loop/thread-scheduler.ts";
import { rootCauseOf } from "../lib/observing/root-cause.ts";
import { openPostgres } from "../store/postgres/postgres.ts";
import { UnsuitableDatabaseError } from "../store/postgres/suitability.ts";
import type { Reader } from "../store/sql/driver.ts";
import { errorCodeOf } from "../store/sql/driver.ts";
import { DatabaseInUseError } from "../store/sqlite/sqlite.ts";
import { openSharedSqlite, openSqliteThread } from "../store/sqlite/thread.ts";
import type { Database, DatabaseEvents } from "../store/store.ts";
import { explainFile } from "./file-faults.ts";
import type { HostLink } from "./host-link.ts";
import { removeUnfinishedBackups } from "./unfinished-backups.ts";

const insufficientPrivilege = "42501"; // SQLSTATE (PostgreSQL, appendix A)

/**
 * Opens the configured database: SQLite in the data folder, or PostgreSQL. Throws `ConfigError` for what the operator
 * can fix.
 */
export async function openDatabase(
  config: Config,
  events: DatabaseEvents,
  { thread, host }: { thread?: ThreadScheduler; host?: HostLink | undefined } = {},
): Promise<Database> {
  prepareDataFolder(config);
  const { HERALD_DATABASE_URL: url, HERALD_MIGRATION_URL: migrationUrl } = config;
  try {
    if (url !== undefined) return await openPostgres(url, events.announce, { ...events, thread, migrationUrl });
    const file = databaseFileOf(config);
    return await (host === undefined ? openSqliteThread(file, events) : openSharedSqlite(file, host.writer, events));
  } catch (error) {
    if (url === undefined) throw explainSqlite(error, config);
    if (error instanceof UnsuitableDatabaseError) {
      const { is, advice } = error.reason;
      throw new ConfigError(`HERALD_DATABASE_URL: the database at ${new URL(url).host} ${is}; ${advice}`);
    }
    const state = errorCodeOf(error instanceof HeraldError ? error.cause : error);
    if (state === insufficientPrivilege && migrationUrl === undefined) {
      throw new ConfigError(
        `HERALD_DATABASE_URL: its user may not migrate the database to this version of Herald (${rootCauseOf(error)}); set HERALD_MIGRATION_URL to a user that owns the tables, or run \`herald migrate\` as that user first`,
      );
    }
    const names = migrationUrl === undefined ? "HERALD_DATABASE_URL" : "HERALD_DATABASE_URL or HERALD_MIGRATION_URL";
    throw new ConfigError(
      `${names}: the database at ${new URL(url).host} cannot be used (${rootCauseOf(error)}); check that the server is running, and check the user, the password and the database name`,
    );
  }
}

/** Tells the log what a database reports. Without its thread, the process ends. */
export function databaseTelling(log: Logger): Pick<DatabaseEvents, "onCrash" | "onMigration"> {
  return {
    onCrash(error) {
      log.fatal({ err: error }, "the database thread died; exiting, so that the supervisor restarts the process");
      process.exit(1);
    },
    onMigration: (message, facts) => log.info(facts, message),
  };
}

/** Tells the log of a database that was opened whether its schema has changed. */
export function tellMigrated(log: Logger, { from, to }: Database["migrated"]): void {
  if (from !== to) log.info({ from, to }, "migrated the database schema");
}

/** What is wrong with the embedded database, as far as the operator can fix it. */
export function explainSqlite(error: unknown, config: Config): unknown {
  if (!(error instanceof DatabaseInUseError)) return explainFile(error, config);
  return new ConfigError(
    `HERALD_DATA_DIR ${config.HERALD_DATA_DIR} is in use by another Herald process; stop that process, or set another folder`,
  );
}

/** The file of the embedded database. */
export function databaseFileOf({ HERALD_DATA_DIR: folder }: Config): string {
  return join(folder, "herald.db");
}

/**
 * Creates the data folder, and removes what killed backups left there; throws `ConfigError` if it cannot be used.
 */
export function prepareDataFolder({ HERALD_DATA_DIR: folder }: Config): void {
  try {
    mkdirSync(folder, { recursive: true });
    accessSync(folder, constants.R_OK | constants.W_OK | constants.X_OK);
    removeUnfinishedBackups(folder, Date.now());
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new ConfigError(
      `HERALD_DATA_DIR ${folder} cannot be used (${reason}); set it to a folder that this user may write to`,
    );
  }
}

/**
 * Returns `ok`, or that the database cannot be read. Anyone may ask, so the cause goes to `onError` and not into the
 * response.
 */
export async function checkStore(reader: Pick<Reader, "all">, onError: (error: unknown) => void): Promise<string> {
  try {
    await reader.all("SELECT version FROM schema_version");
    return "ok";
  } catch (error) {
    if (error instanceof HeraldError) return "does not respond"; // an outage, which is logged elsewhere
    onError(error);
    return "cannot be read; see this node's log";
  }
}
