import { join } from "node:path";
import packageJson from "../../../package.json" with { type: "json" };
import { startPostgres } from "../../../test/harness/engines/postgres.ts";
import { maskedFrame } from "../../harness/clients/handshake.ts";
import { post, upgrade } from "../generator.ts";
import { type Compared, payload, type StartCompared } from "../peer.ts";
import { startProgram } from "./programs.ts";

const script = join(import.meta.dir, "../../processes/socket-io-server.ts");

/** Socket.IO 4 on Bun with its engine for Bun, which stores each message in SQLite before it broadcasts it. */
export const startSocketIoSqlite: StartCompared = (folder) => startWith("SQLite", join(folder, "messages.db"), []);

/** The same with PostgreSQL. */
export const startSocketIoPostgres: StartCompared = async () => {
  const postgres = await startPostgres();
  if (postgres === undefined) return undefined;
  const server = await startWith("PostgreSQL", await postgres.createDatabase(), [postgres.pid]);
  return {
    ...server,
    async stop() {
      await server.stop();
      postgres.stop();
    },
  };
};

/** Its packets are those of Engine.IO 4 and Socket.IO 5: `0` opens, `40` connects, `42` is an event. */
async function startWith(database: string, address: string, databasePids: readonly number[]): Promise<Compared> {
  const program = await startProgram((port) => [process.execPath, script, String(port), address]);
  return {
    name: `Socket.IO + ${database}`,
    durability: "flushed",
    settings: `\`@socket.io/bun-engine\`, one ${database} insert for each message (bench/processes/socket-io-server.ts)`,
    version: packageJson.devDependencies["socket.io"],
    port: program.port,
    pids: [program.pid, ...databasePids],
    listeners: (count) =>
      Array.from({ length: count }, () => [
        upgrade("/socket.io/?EIO=4&transport=websocket", { answers: 2 }),
        { bytes: maskedFrame("40"), answers: 1 },
      ]),
    publisher: { opening: [], request: post("/", payload), answer: "http" },
    stop: program.stop,
  };
}
