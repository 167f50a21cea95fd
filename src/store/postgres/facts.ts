import type { Reader, Row } from "../sql/driver.ts";
import type { DatabaseSizes } from "../store.ts";

// Whoever may connect may read the size of the database. Only superusers and members of pg_monitor may list the log.
const readSize = `SELECT pg_database_size(current_database()) AS bytes,
  CAST(has_function_privilege('pg_ls_waldir()', 'EXECUTE') AS int) AS may_list_log`;
const readLog = "SELECT CAST(COALESCE(SUM(size), 0) AS BIGINT) AS bytes FROM pg_ls_waldir()";

const readServer = `SELECT current_setting('server_version') AS version, current_setting('server_version_num') AS number,
  CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT) AS now`;

/** Reads the version of a server, also as a number (150004 is 15.4), and its clock in milliseconds since the Unix epoch. */
export async function readPostgresFacts(reader: Pick<Reader, "all">) {
  const [row] = await reader.all<Row & { version: string }>(readServer);
  return { version: row?.version ?? "", versionNumber: Number(row?.number), nowMs: Number(row?.now) };
}

/** Reads the size of the database with all its tables, and that of the server's write-ahead log if the user may. */
export async function readPostgresSizes(reader: Pick<Reader, "all">): Promise<DatabaseSizes> {
  const [size] = await reader.all<Row & { may_list_log: number }>(readSize);
  const [log] = size?.may_list_log === 1 ? await reader.all<Row>(readLog) : [];
  return { engine: "postgresql", bytes: Number(size?.bytes), logBytes: log && Number(log.bytes) };
}
