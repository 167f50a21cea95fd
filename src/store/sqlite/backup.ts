import type { Database } from "bun:sqlite";
import { chmodSync, closeSync, existsSync, fsyncSync, openSync, renameSync, rmSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { readSchema } from "../migrate.ts";
import { errorCodeOf } from "../sql/driver.ts";
import { refuseForeignLog } from "./own-files.ts";
import { connect, openSqliteReader } from "./sqlite.ts";

const ownerOnly = 0o600;

// Files that belong to the database travel in a table of the backup, which a restore removes again.
const createTable = "CREATE TABLE backup_file (name TEXT PRIMARY KEY, content TEXT NOT NULL)";
const hasTable = "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?";

/** A backup is missing, damaged or of something else, or its target is in the way. The message says what to do. */
export class BackupError extends Error {
  override readonly name = "BackupError";
}

/** Small text files that belong to a database, by name. */
export type Attachments = Readonly<Record<string, string>>;

/** What a backup holds. */
export type BackupFacts = { bytes: number; organizations: number; messages: number; schema: number; files: string[] };

/**
 * Copies a database to a new file (mode 0600) as it is at one moment, while its server may be writing, and checks the
 * copy. It takes as much disk as the database. Throws `BackupError` or `ForeignLogError`; then there is no file.
 */
export async function backUpSqlite(file: string, target: string, attachments: Attachments): Promise<BackupFacts> {
  if (!existsSync(file)) throw new BackupError(`there is no database at ${file}`);
  if (existsSync(target)) throw new BackupError(`${target} already exists; choose another file, or remove it first`);
  refuseForeignLog(file);
  closeSync(openSync(target, "wx", ownerOnly)); // SQLite fills an empty file, and keeps its mode
  try {
    using source = connect(file, { readonly: true });
    source.run("VACUUM INTO ?", [target]);
    using copy = connect(target, { readwrite: true });
    copy.run("PRAGMA journal_mode = DELETE"); // so that the backup is this file alone
    copy.run(createTable);
    for (const [name, content] of Object.entries(attachments))
      copy.run("INSERT INTO backup_file (name, content) VALUES (?, ?)", [name, content]);
    const facts = await inspect(copy, target);
    flush(target);
    return facts;
  } catch (error) {
    rmSync(target, { force: true });
    throw explainFull(error, target);
  }
}

/**
 * Restores a backup to a new database file (mode 0600) and returns the files that belong to it. Throws `BackupError`,
 * and then leaves nothing behind.
 */
export async function restoreSqlite(backup: string, file: string): Promise<BackupFacts & { attachments: Attachments }> {
  if (!existsSync(backup)) throw new BackupError(`there is no backup at ${backup}`);
  const made = `${file}.restoring`;
  rmSync(made, { force: true });
  closeSync(openSync(made, "wx", ownerOnly));
  try {
    using source = openBackup(backup);
    const facts = await inspect(source, backup);
    const attachments = attachmentsIn(source);
    source.run("VACUUM INTO ?", [made]);
    using copy = connect(made, { readwrite: true });
    copy.run("DROP TABLE IF EXISTS backup_file");
    copy.run("VACUUM"); // the secrets are gone from its pages, too
    flush(made);
    renameSync(made, file);
    flush(dirname(file));
    return { ...facts, attachments };
  } catch (error) {
    rmSync(made, { force: true });
    throw explainFull(error, file);
  }
}

/** A full disk is the one that the copy is written to; other errors stay as they are. */
function explainFull(error: unknown, target: string): unknown {
  if (errorCodeOf(error) !== "SQLITE_FULL") return error;
  const message = `the disk of ${target} is full; free space there, or use another disk`;
  return new BackupError(message, { cause: error });
}

function openBackup(file: string): Database {
  try {
    const database = connect(file, { readonly: true });
    database.query("SELECT COUNT(*) FROM sqlite_schema").all();
    return database;
  } catch (cause) {
    throw new BackupError(`${file} is not a backup of Herald, or it is damaged`, { cause });
  }
}

/** Checks every page of a backup and counts what it holds. */
async function inspect(database: Database, file: string): Promise<BackupFacts> {
  if (!has(database, "schema_version")) throw new BackupError(`${file} is a database, but not one of Herald`);
  const fault = faultOf(database);
  if (fault !== "ok") throw new BackupError(`${file} is damaged: ${fault}`);
  const count = (query: string) => Number(database.query<{ n: number }, []>(query).get()?.n);
  return {
    bytes: statSync(file).size,
    organizations: count("SELECT COUNT(*) AS n FROM organization WHERE deleted_at IS NULL"),
    messages: count("SELECT COUNT(*) AS n FROM event WHERE kind IN ('message', 'system')"),
    schema: await schemaOf(file),
    files: Object.keys(attachmentsIn(database)),
  };
}

async function schemaOf(file: string): Promise<number> {
  const reader = openSqliteReader(file);
  const { version } = await readSchema(reader);
  reader.close();
  return version;
}

/** The first fault of a database, or `ok`. */
function faultOf(database: Database): string | undefined {
  try {
    return database.query<{ integrity_check: string }, []>("PRAGMA integrity_check(1)").get()?.integrity_check;
  } catch (error) {
    return error instanceof Error ? error.message : String(error); // too damaged to be checked
  }
}

function attachmentsIn(database: Database): Attachments {
  if (!has(database, "backup_file")) return {};
  const rows = database.query<{ name: string; content: string }, []>("SELECT name, content FROM backup_file").all();
  return Object.fromEntries(rows.map(({ name, content }) => [name, content]));
}

function has(database: Database, table: string): boolean {
  return database.query(hasTable).get(table) !== null;
}

/** Puts a file or the entries of a folder on the disk. */
function flush(path: string): void {
  const descriptor = openSync(path, "r");
  fsyncSync(descriptor);
  closeSync(descriptor);
  if (!statSync(path).isDirectory()) chmodSync(path, ownerOnly);
}
