import type { Reader, Row } from "../sql/driver.ts";

const read = `SELECT current_setting('server_version') AS version, current_setting('server_version_num') AS number,
  CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT) AS now`;

/** A PostgreSQL server: its version, also as a number (150004 is 15.4), and its clock in Unix milliseconds. */
export type PostgresFacts = { version: string; versionNumber: number; nowMs: number };

/** Reads what a server says about itself. */
export async function readPostgresFacts(reader: Pick<Reader, "all">): Promise<PostgresFacts> {
  const [row] = await reader.all<Row & { version: string }>(read);
  return { version: row?.version ?? "", versionNumber: Number(row?.number), nowMs: Number(row?.now) };
}
