import { existsSync } from "node:fs";
import { within } from "../deadline.ts";
import { freePort } from "./free-port.ts";
import { reportMissing } from "./installed.ts";

/** A suite's own NATS server. */
export type Nats = {
  readonly url: string;
  /** The server's process, which changes after an outage. */
  readonly pid: number;
  /** Kills the server (SIGKILL). */
  kill(): Promise<void>;
  /** Starts it again after `kill`, on the same port. */
  start(): Promise<void>;
  /** SIGSTOP: it keeps its connections and does nothing. */
  freeze(): void;
  /** SIGCONT. */
  resume(): void;
  /** Kills the server (SIGKILL), runs `meanwhile`, and starts it again on the same port. */
  outage(meanwhile: () => Promise<void>): Promise<void>;
  stop(): Promise<void>;
};

const places = ["/usr/sbin/nats-server", "/usr/local/bin/nats-server", "/usr/bin/nats-server"];

/** The path of the NATS server; `undefined` if it is not installed. */
export function findNats(): string | undefined {
  return places.find((place) => existsSync(place));
}

/**
 * Starts a server with these additional arguments; `undefined` if NATS is not installed, which is a failure under CI.
 */
export async function startNats(...args: string[]): Promise<Nats | undefined> {
  const program = findNats();
  if (program === undefined) return reportMissing("NATS", "nats-server");
  const run = program;
  const port = freePort();

  async function launch() {
    const child = Bun.spawn([run, "-a", "127.0.0.1", "-p", String(port), ...args], {
      stdout: "ignore",
      stderr: "pipe",
    });
    const ready = (async () => {
      const reader = child.stderr.getReader();
      let log = "";
      while (!log.includes("Server is ready")) {
        const { value, done } = await reader.read();
        if (done) throw new Error(`nats-server ended: ${log}`);
        log += new TextDecoder().decode(value);
      }
      reader.releaseLock();
    })();
    await within(ready, "nats-server to be ready");
    return child;
  }

  let child = await launch();
  process.on("exit", () => child.kill("SIGKILL"));
  const kill = async () => {
    child.kill("SIGKILL");
    await child.exited;
  };
  const start = async () => {
    child = await launch();
  };
  return {
    url: `nats://127.0.0.1:${port}`,
    get pid() {
      return child.pid;
    },
    kill,
    start,
    freeze: () => child.kill("SIGSTOP"),
    resume: () => child.kill("SIGCONT"),
    async outage(meanwhile) {
      await kill();
      try {
        await meanwhile();
      } finally {
        await start();
      }
    },
    stop: kill,
  };
}
