import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createHostLink } from "../../server/host-link.ts";
import { describeEngine } from "../testing/engine-suite.ts";
import type { OpenDatabase } from "../testing/log-suite.ts";
import { openSharedSqlite } from "./thread.ts";
import { openWriterHost } from "./writer-host.ts";

describeEngine("SQLite that several processes share", openShared);

/** As it is for a worker: the writing thread belongs to another process, and all that passes between the two is copied. */
async function openShared(announce: Parameters<OpenDatabase>[0] = () => undefined) {
  const folder = mkdtempSync(join(tmpdir(), "herald-store-"));
  const file = join(folder, "herald.db");
  const onCrash = (error: Error) => {
    throw error;
  };
  const host = await openWriterHost(file, { onCrash });
  const link = createHostLink((message) => {
    if ("writes" in message) connection.hear(structuredClone(message.writes));
  });
  const connection = host.connect((report) => link.hear({ writes: structuredClone(report) }));
  const database = await openSharedSqlite(file, link.writer, { announce, onCrash });
  const close = async () => {
    await database.close();
    connection.end();
    await host.close();
    rmSync(folder, { recursive: true });
  };
  return { ...database, close };
}
