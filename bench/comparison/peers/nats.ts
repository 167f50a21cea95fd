import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { maskedFrame } from "../../harness/clients/handshake.ts";
import { type Step, upgrade } from "../generator.ts";
import { payload, type StartCompared } from "../peer.ts";
import { findProgram, startProgram, versionOf } from "./programs.ts";

const subject = "hall";
const streamMayTakeMs = 5_000;

/**
 * NATS over WebSocket: the message is in a file of JetStream before it is acknowledged, from 2.10 on flushed. Listeners hear it
 * before that.
 */
export const startNats: StartCompared = async (folder) => {
  const nats = process.env.BENCH_NATS ?? findProgram("nats-server", "nats-server");
  if (nats === undefined) return undefined;
  const version = versionOf([nats, "-v"]);
  const flushes = Bun.semver.satisfies(version, ">=2.10.0");
  const program = await startProgram((port) => {
    const configuration = `
listen: 127.0.0.1:-1
jetstream { store_dir: "${join(folder, "store")}"${flushes ? ", sync_interval: always" : ""} }
websocket { listen: "127.0.0.1:${port}", no_tls: true }`;
    writeFileSync(join(folder, "nats.conf"), configuration);
    return [nats, "-c", join(folder, "nats.conf")];
  });
  await createStream(program.port);
  const text = Buffer.byteLength(payload);
  return {
    name: "NATS JetStream",
    durability: flushes ? "flushed" : "on disk, not flushed",
    settings: `a stream of files${flushes ? " with `sync_interval: always`" : ""}, listeners subscribed to its subject`,
    version,
    port: program.port,
    pids: [program.pid],
    listeners: (count) => Array.from({ length: count }, () => opening(`SUB ${subject} 1`)),
    publisher: {
      opening: opening("SUB answers 1"),
      request: maskedFrame(Buffer.from(`PUB ${subject} answers ${text}\r\n${payload}\r\n`)),
      answer: "frame",
    },
    stop: program.stop,
  };
};

/** The server says INFO once the socket is open; PONG tells that the subscription is there. */
function opening(subscription: string): Step[] {
  const lines = `CONNECT {"verbose":false,"pedantic":false}\r\n${subscription}\r\nPING\r\n`;
  return [upgrade("/", { answers: 2 }), { bytes: maskedFrame(Buffer.from(lines)), answers: 1 }];
}

async function createStream(port: number): Promise<void> {
  const config = JSON.stringify({
    name: "hall",
    subjects: [subject],
    storage: "file",
    retention: "limits",
    num_replicas: 1,
  });
  const socket = new WebSocket(`ws://127.0.0.1:${port}/`);
  socket.binaryType = "arraybuffer";
  const created = Promise.withResolvers<void>();
  const timer = setTimeout(() => created.reject(new Error("NATS creates no stream")), streamMayTakeMs);
  socket.onopen = () =>
    socket.send(
      Buffer.from(
        `CONNECT {"verbose":false}\r\nSUB created 1\r\nPUB $JS.API.STREAM.CREATE.hall created ${config.length}\r\n${config}\r\n`,
      ),
    );
  socket.onmessage = ({ data }) => {
    const text = Buffer.from(data).toString();
    if (text.includes("stream_create_response") && !text.includes('"error"')) created.resolve();
    else if (text.includes('"error"')) created.reject(new Error(text));
  };
  try {
    await created.promise;
  } finally {
    clearTimeout(timer);
    socket.close();
  }
}
