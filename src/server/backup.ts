import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { type Config, ConfigError } from "../config.ts";
import { replaceSecret } from "../lib/secret-file.ts";
import { BackupError, type BackupFacts, backUpSqlite, restoreSqlite } from "../store/sqlite/backup.ts";
import { databaseFileOf, prepareDataFolder } from "./database.ts";
import { explainFile } from "./file-faults.ts";
import { secretFiles } from "./secrets.ts";
import { createBackupFolder, removeUnfinishedBackups } from "./unfinished-backups.ts";

/**
 * Backs up the embedded database and the generated secrets to one file, while a server uses them or not. Throws
 * `ConfigError` if that cannot be done, or if the database is PostgreSQL.
 */
export async function backUp(config: Config, target: string): Promise<BackupFacts> {
  if (config.HERALD_DATABASE_URL !== undefined) throw new ConfigError(adviceForPostgres(config.HERALD_DATABASE_URL));
  const { HERALD_DATA_DIR: folder } = config;
  const kept = secretFiles.filter((name) => existsSync(join(folder, name)));
  const secrets = Object.fromEntries(kept.map((name) => [name, readFileSync(join(folder, name), "utf8").trim()]));
  return await explained(config, () => backUpSqlite(databaseFileOf(config), target, secrets));
}

/** Backs up to a temporary file in the data folder, passes its path to `use`, and removes it. */
export async function withBackup<Result>(config: Config, use: (file: string) => Promise<Result>): Promise<Result> {
  removeUnfinishedBackups(config.HERALD_DATA_DIR, Date.now());
  const folder = createBackupFolder(config.HERALD_DATA_DIR);
  try {
    const file = join(folder, "backup.db");
    await backUp(config, file);
    return await use(file);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * Restores a backup into the data folder, which must not hold a database yet. Throws `ConfigError` if that cannot be
 * done; then the folder is as before.
 */
export async function restore(config: Config, backup: string): Promise<BackupFacts> {
  if (config.HERALD_DATABASE_URL !== undefined) throw new ConfigError(adviceForPostgres(config.HERALD_DATABASE_URL));
  const { HERALD_DATA_DIR: folder } = config;
  prepareDataFolder(config);
  const file = databaseFileOf(config);
  const inTheWay = [file, `${file}-wal`, ...secretFiles.map((name) => join(folder, name))].find((path) =>
    existsSync(path),
  );
  if (inTheWay !== undefined)
    throw new ConfigError(`${inTheWay} already exists; restore into an empty folder, or move the old files away first`);
  const { attachments, ...facts } = await explained(config, () => restoreSqlite(backup, file));
  for (const name of secretFiles) {
    const secret = attachments[name];
    if (secret !== undefined) replaceSecret(join(folder, name), secret);
  }
  return facts;
}

async function explained<Result>(config: Config, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof BackupError) throw new ConfigError(error.message, { cause: error });
    throw explainFile(error, config);
  }
}

function adviceForPostgres(url: string): string {
  const name = URL.parse(url)?.pathname.slice(1) ?? "herald";
  return [
    "the database is PostgreSQL, which has tools of its own. As a superuser, because of row-level security, run:",
    `  pg_dump --format=custom --file=herald.dump ${name}`,
    `  pg_restore --create --dbname=postgres herald.dump && psql ${name} --command=ANALYZE`,
    "For backups up to the second, archive the write-ahead log (see docs/how-to/run-a-cluster.md).",
  ].join("\n");
}
