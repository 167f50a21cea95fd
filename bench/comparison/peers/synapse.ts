import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { startPostgres } from "../../../test/harness/engines/postgres.ts";
import { idDigits, put } from "../generator.ts";
import { type StartCompared, text } from "../peer.ts";
import { startProgram, versionOf } from "./programs.ts";

/**
 * Synapse with PostgreSQL, if BENCH_SYNAPSE names its program `synapse_homeserver`. Its clients poll for messages, so it is
 * compared without listeners.
 */
export const startSynapse: StartCompared = async (folder) => {
  const synapse = process.env.BENCH_SYNAPSE;
  if (synapse === undefined) {
    console.error("  without Synapse: BENCH_SYNAPSE names no program (pip install matrix-synapse psycopg2-binary)");
    return undefined;
  }
  const postgres = await startPostgres();
  if (postgres === undefined) return undefined;
  const database = new URL(await postgres.createDatabase());
  const file = join(folder, "homeserver.yaml");
  const program = await startProgram((port) => {
    const logging = join(folder, "logging.yaml");
    writeFileSync(logging, JSON.stringify({ version: 1, root: { level: "ERROR" } }));
    writeFileSync(file, JSON.stringify({ ...configurationOf(port, database, folder), log_config: logging }));
    return [synapse, "-c", file];
  });
  const { token, room } = await createRoom(program.port);
  const message = JSON.stringify({ msgtype: "m.text", body: text, x: { kind: "note" } });
  const path = `/_matrix/client/v3/rooms/${encodeURIComponent(room)}/send/m.room.message/${idDigits}`;
  return {
    name: "Synapse",
    durability: "flushed",
    settings: "PostgreSQL, one process, `rc_message` lifted, `presence: enabled: false`, no log",
    version: versionOf([join(synapse, "../pip"), "show", "matrix-synapse"]),
    port: program.port,
    pids: [program.pid, postgres.pid],
    publisher: {
      opening: [],
      request: put(path, message, [`Authorization: Bearer ${token}`]),
      answer: "http",
    },
    async stop() {
      await program.stop();
      postgres.stop();
    },
  };
};

/** YAML includes JSON. */
function configurationOf(port: number, database: URL, folder: string): object {
  const lifted = { per_second: 1e6, burst_count: 1e6 };
  return {
    server_name: "localhost",
    report_stats: false,
    signing_key_path: join(folder, "signing.key"),
    media_store_path: join(folder, "media"),
    pid_file: join(folder, "pid"),
    trusted_key_servers: [],
    listeners: [{ port, bind_addresses: ["127.0.0.1"], type: "http", resources: [{ names: ["client"] }] }],
    database: {
      name: "psycopg2",
      allow_unsafe_locale: true,
      args: {
        host: database.hostname,
        port: Number(database.port),
        user: database.username,
        dbname: database.pathname.slice(1),
      },
    },
    enable_registration: true,
    enable_registration_without_verification: true,
    presence: { enabled: false },
    rc_message: lifted,
  };
}

/** Registers a sender, who creates a public room, which is not encrypted. */
async function createRoom(port: number): Promise<{ token: string; room: string }> {
  const call = async (path: string, body: object, token = "") => {
    const headers = token === "" ? {} : { authorization: `Bearer ${token}` };
    const address = `http://127.0.0.1:${port}/_matrix/client/v3/${path}`;
    const response = await fetch(address, { method: "POST", headers, body: JSON.stringify(body) });
    if (!response.ok) throw new Error(`Synapse refuses ${path}: ${await response.text()}`);
    return await response.json();
  };
  const auth = { type: "m.login.dummy" };
  const { access_token: token } = await call("register", { username: "sender", password: "secret", auth });
  const { room_id: room } = await call("createRoom", { preset: "public_chat" }, token);
  return { token, room };
}
