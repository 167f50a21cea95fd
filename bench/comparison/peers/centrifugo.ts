import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { maskedFrame } from "../../harness/clients/handshake.ts";
import { post, upgrade } from "../generator.ts";
import { payload, type StartCompared } from "../peer.ts";
import { startProgram, versionOf } from "./programs.ts";

const channel = "hall";

/** Centrifugo 6 with its memory engine, if BENCH_CENTRIFUGO names its program. */
export const startCentrifugo: StartCompared = async (folder) => {
  const centrifugo = process.env.BENCH_CENTRIFUGO;
  if (centrifugo === undefined) return undefined;
  const file = join(folder, "config.json");
  const program = await startProgram((port) => {
    const configuration = {
      http_server: { address: "127.0.0.1", port: String(port) },
      http_api: { insecure: true },
      client: { insecure: true, allowed_origins: ["*"], connection_limit: 0 },
      websocket: { use_write_buffer_pool: true },
      channel: { without_namespace: { allow_subscribe_for_client: true } },
      log: { level: "error" },
    };
    writeFileSync(file, JSON.stringify(configuration));
    return [centrifugo, "--config", file];
  });
  const say = (command: object) => ({ bytes: maskedFrame(JSON.stringify(command)), answers: 1 });
  return {
    name: "Centrifugo",
    durability: "in memory",
    settings: "the memory engine without history, `use_write_buffer_pool`, JSON",
    version: versionOf([centrifugo, "version"]),
    port: program.port,
    pids: [program.pid],
    listeners: (count) =>
      Array.from({ length: count }, () => [
        upgrade("/connection/websocket"),
        say({ id: 1, connect: {} }),
        say({ id: 2, subscribe: { channel } }),
      ]),
    publisher: {
      opening: [],
      request: post("/api/publish", `{"channel":"${channel}","data":${payload}}`),
      answer: "http",
    },
    stop: program.stop,
  };
};
