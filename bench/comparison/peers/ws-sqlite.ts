import { join } from "node:path";
import { post, upgrade } from "../generator.ts";
import { payload, type StartCompared } from "../peer.ts";
import { startProgram } from "./programs.ts";

/** What a developer writes in an hour: a WebSocket server that stores each message before it broadcasts it. */
export const startWsSqlite: StartCompared = async (folder) => {
  const script = join(import.meta.dir, "../../processes/ws-sqlite-server.ts");
  const file = join(folder, "messages.db");
  const program = await startProgram((port) => [process.execPath, script, String(port), file]);
  return {
    name: "Bun WebSocket + SQLite",
    durability: "flushed",
    settings:
      "`journal_mode = WAL`, `synchronous = FULL`, one transaction for each message (bench/processes/ws-sqlite-server.ts)",
    version: Bun.version,
    port: program.port,
    pids: [program.pid],
    listeners: (count) => Array.from({ length: count }, () => [upgrade("/")]),
    publisher: { opening: [], request: post("/", payload), answer: "http" },
    stop: program.stop,
  };
};
