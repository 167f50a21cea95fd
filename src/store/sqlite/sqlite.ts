import { Database } from "bun:sqlite";
import { closeSync, openSync } from "node:fs";
import { HeraldError, unavailable } from "../../contract/errors/errors.ts";
import { createQueue, type Turn } from "../../lib/queues/queue.ts";
import { sqliteDialect } from "../sql/dialect.ts";
import {
  createLastWrites,
  type Driver,
  errorCodeOf,
  type Reader,
  type Row,
  type Sql,
  type SqlValue,
  type Transaction,
  unowned,
} from "../sql/driver.ts";
import { createRewriting } from "../sql/rewriting.ts";
import { createRowsOneByOne } from "../sql/rows.ts";
import { createCheckpoints } from "./checkpoints.ts";
import { createOwnFiles, refuseForeignLog } from "./own-files.ts";

const ownerOnly = 0o600;
// Far more than checkpoints let it grow to. A long read can hold them up; once it has ended, the file gets this small again.
const maxIdleLogBytes = 64 * 1024 * 1024;
const busyTimeoutMs = 5000;
const passing = /^SQLITE_(BUSY|LOCKED|IOERR|CANTOPEN|READONLY|PROTOCOL|PERM|CORRUPT|NOTADB)/;

Database.MAX_QUERY_CACHE_SIZE = 500; // more than there are statements: with the default of 20, most would be prepared again and again

/** Thrown if another process has the database open. */
export class DatabaseInUseError extends Error {
  override readonly name = "DatabaseInUseError";
}

/**
 * Opens or creates the embedded database, for this process only and readable by its user only (mode 0600). Commits are
 * flushed to disk before they resolve (WAL, `synchronous=FULL`). One connection writes and another reads, so that no
 * read runs inside a transaction. Throws `DatabaseInUseError` or `ForeignLogError`.
 */
export function openSqlite(file: string): Driver {
  const lock = lockFile(`${file}.lock`);
  try {
    refuseForeignLog(file);
  } catch (error) {
    lock.close();
    throw error;
  }
  closeSync(openSync(file, "a", ownerOnly)); // SQLite gives its other files the mode of this one
  const writer = connect(file, { create: true, readwrite: true });
  writer.run("PRAGMA journal_mode = WAL");
  writer.run("PRAGMA synchronous = FULL");
  writer.run(`PRAGMA journal_size_limit = ${maxIdleLogBytes}`);
  const [begin, commit] = [writer.prepare("BEGIN IMMEDIATE"), writer.prepare("COMMIT")];
  const reader = openSqliteReader(file);
  writer.query("SELECT COUNT(*) AS n FROM sqlite_schema").get(); // opens the write-ahead log
  const ownFiles = createOwnFiles(file);
  const queue = createQueue(() => unavailable({ detail: "this node is shutting down; retry with the same id" }));
  const between = (work: () => Promise<void>) => queue.add(unowned, work);
  const checkpoints = createCheckpoints({ writer, busyTimeoutMs, between, requireFiles: ownFiles.require });
  const rows = createRowsOneByOne((text) => {
    const statement = writer.query<Row, SqlValue[]>(text);
    if (!text.startsWith("INSERT")) return (...values) => statement.all(...values);
    const countRow = checkpoints.rowsOf(text);
    return (...values) => {
      countRow(values);
      return statement.all(...values);
    };
  });
  const statements = { ...sqlOn(writer), dialect: sqliteDialect, rows, limitTo: async () => undefined };

  async function runAlone<Result>(work: (transaction: Transaction) => Promise<Result>, turn: Turn): Promise<Result> {
    try {
      begin.run();
      const { lastly, settle } = createLastWrites();
      let forgets = false;
      const forget = () => {
        forgets = true;
      };
      const result = await work({ ...statements, lastly, forget });
      await settle();
      commit.run();
      ownFiles.require(); // what was committed to another file is not stored
      checkpoints.afterCommit(turn, forgets);
      return result;
    } catch (error) {
      if (writer.inTransaction) writer.run("ROLLBACK");
      throw translate(error);
    }
  }

  const transaction: Driver["transaction"] = (work, turn = unowned) => queue.add(turn, () => runAlone(work, turn));

  return {
    ...reader,
    transaction,
    aside: transaction, // SQLite has a single writer
    migration: (work) =>
      work({
        ...sqlOn(writer),
        transaction,
        createIndex: async (statement) => {
          await transaction((sql) => sql.run(statement.replace("CONCURRENTLY", "IF NOT EXISTS")));
        },
      }),
    async close() {
      checkpoints.stop();
      await queue.close(); // a large change in steps ends with its current step
      reader.close();
      writer.close();
      ownFiles.close();
      lock.close();
    },
  };
}

/** Opens a database created by `openSqlite` for reading committed data. */
export function openSqliteReader(file: string): Sql & Reader & { close(): void } {
  const database = connect(file, { readonly: true });
  const sql = sqlOn(database);
  return {
    ...sql,
    allOf: (_, text, ...values) => sql.all(text, ...values),
    allOfEvery: sql.all,
    dialect: sqliteDialect,
    close: () => database.close(),
  };
}

/**
 * Locks the database, as two servers on one file would not hear each other. The lock is SQLite's own, so it ends with
 * the process in any case.
 */
function lockFile(file: string): Database {
  closeSync(openSync(file, "a", ownerOnly));
  const database = new Database(file);
  try {
    database.run("BEGIN EXCLUSIVE");
    return database;
  } catch (cause) {
    database.close();
    if (!errorCodeOf(cause).startsWith("SQLITE_BUSY")) throw cause;
    throw new DatabaseInUseError("another process has the database open", { cause });
  }
}

/** Opens a database file, and waits for others that lock it. */
export function connect(
  file: string,
  options: { create?: boolean; readwrite?: boolean; readonly?: boolean },
): Database {
  const database = new Database(file, { ...options, strict: true });
  database.run(`PRAGMA busy_timeout = ${busyTimeoutMs}`);
  return database;
}

function sqlOn(database: Database): Sql {
  const compiledOnce = createRewriting(setParametersAside);
  async function translated<Result>(work: () => Result): Promise<Result> {
    try {
      return work();
    } catch (error) {
      throw translate(error);
    }
  }
  return {
    all: <Shape extends Row>(text: string, ...values: SqlValue[]) =>
      translated(() => database.query<Shape, SqlValue[]>(compiledOnce(text)).all(...values)),
    run: (text, ...values) => translated(() => database.query(text).run(...values).changes),
  };
}

/**
 * Moves the parameters of a query over several tables into a table of their own. SQLite recompiles a query whose
 * conditions compare with parameters for each run, as another value might need another plan; that often costs as much
 * as the query.
 */
function setParametersAside(text: string): string {
  const isOverSeveral = /^(?:WITH|SELECT) .*(?:\bJOIN\b|\(SELECT\b)/s.test(text);
  if (!isOverSeveral || !text.includes("?")) return text;
  const names: string[] = [];
  const query = text.replaceAll("?", () => {
    names.push(`p${names.length + 1}`);
    return `(SELECT ${names.at(-1)} FROM parameter)`;
  });
  const parameter = `parameter (${names.join(", ")}) AS (VALUES (${names.map(() => "?").join(", ")}))`;
  if (!query.startsWith("WITH ")) return `WITH ${parameter} ${query}`;
  return query.replace(/^WITH(?: RECURSIVE)? /, (start) => `${start}${parameter}, `);
}

/** Translates a full disk and a busy or damaged file into errors for the caller; anything else is a bug and stays as it is. */
function translate(error: unknown): unknown {
  const code = errorCodeOf(error);
  if (code === "SQLITE_FULL") return new HeraldError("storage_full", undefined, { cause: error });
  if (passing.test(code)) return unavailable({ cause: error });
  return error;
}
