import { stat } from "node:fs/promises";
import type { DatabaseSizes } from "../store.ts";

/** Reads the sizes of the embedded database's files, without opening them. */
export async function readSqliteSizes(file: string): Promise<DatabaseSizes> {
  const [database, log] = await Promise.all([stat(file), stat(`${file}-wal`)]);
  return { engine: "sqlite", bytes: database.size, logBytes: log.size };
}
