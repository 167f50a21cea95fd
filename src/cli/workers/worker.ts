import type { Command } from "commander";
import { loadConfig } from "../../config.ts";
import type { Host } from "../../server/host.ts";
import { createHostLink, type FromHost, type ToHost } from "../../server/host-link.ts";
import type { findPorts } from "../../server/listen.ts";
import type { Herald } from "../../server.ts";
import { CliError, exitCodes } from "../exit-codes.ts";
import { ownCommand } from "../own-command.ts";
import { explained, stopInTime } from "../start-stop.ts";
import { heraldVersion } from "../version.ts";
import { sendIfRunning } from "./child.ts";
import type { Worker } from "./supervisor.ts";
import { type createGathering, createWorkerMetrics, type FromWorker, type ToWorker } from "./worker-metrics.ts";

/** What a worker reports when it accepts requests. */
export type WorkerReady = Pick<Herald, "demo">;

type Told = ({ kind: "ready" } & WorkerReady) | FromWorker | ToHost;

type WorkerOptions = { config?: string; hostVersion?: string };

/** `herald worker`, which only `herald serve --workers` starts. It exits with its parent, however that ends. */
export function addWorkerCommand(program: Command): void {
  program
    .command("worker <number>", { hidden: true })
    .option("--config <file>")
    .option("--host-version <version>")
    .action(async (number: string, { config: configFile, hostVersion }: WorkerOptions) => {
      if (process.send === undefined)
        throw new CliError(exitCodes.usage, "only `herald serve --workers` can start a worker");
      requireVersion(hostVersion);
      const tell = (message: Told) => {
        if (process.connected) process.send?.(message);
      };
      const host = hostVersion === undefined ? undefined : createHostLink(tell);
      const stopped = Promise.withResolvers<unknown>();
      // Ctrl-C reaches every process of the terminal's group, but the parent decides when to stop.
      process
        .on("SIGINT", () => undefined)
        .on("SIGTERM", stopped.resolve)
        .on("disconnect", () => {
          host?.onGone();
          stopped.resolve(undefined);
        });
      const config = loadConfig(process.env, configFile);
      const { startHerald } = await import("../../server.ts");
      let herald: Herald | undefined;
      const metrics = createWorkerMetrics(tell, () => herald?.metrics() ?? []);
      process.on("message", (message: ToWorker | FromHost) => {
        if ("kind" in message) metrics.hear(message);
        else host?.hear(message);
      });
      const place = { worker: Number(number), host };
      herald = await explained(startHerald(config, { ...place, gatherMetrics: metrics.gather }));
      tell({ kind: "ready", demo: herald.demo });
      await stopped.promise;
      await stopInTime(herald);
    });
}

/** Throws unless this is the version of the process that writes to the embedded database. */
function requireVersion(hostVersion = heraldVersion): void {
  if (hostVersion === heraldVersion) return;
  throw new CliError(
    exitCodes.failed,
    `this worker is Herald ${heraldVersion}, and \`herald serve\` that started it is ${hostVersion}; stop \`herald serve\` and start it again, as it writes to the embedded database`,
  );
}

type Options = {
  ports: Awaited<ReturnType<typeof findPorts>>["ports"];
  configFile: string | undefined;
  gathering: ReturnType<typeof createGathering>;
  /** What the workers share if they have neither PostgreSQL nor NATS. */
  host: Host | undefined;
  onReady(told: WorkerReady): void;
};

/** Starts worker `number` on the ports. Calls `onReady` with the worker's report when it accepts requests. */
export function spawnWorker(number: number, { ports, configFile, gathering, host, onReady }: Options): Worker {
  const ready = Promise.withResolvers<void>();
  const config = configFile === undefined ? [] : ["--config", configFile];
  const hosted = host === undefined ? [] : ["--host-version", heraldVersion];
  const reply = (message: ToWorker | FromHost) => sendIfRunning(child, message);
  let forget = () => {};
  let connection: ReturnType<Host["connect"]> | undefined;
  const child = Bun.spawn([...ownCommand, "worker", String(number), ...config, ...hosted], {
    env: { ...process.env, ...ports },
    stdio: ["ignore", "inherit", "inherit"],
    ipc(told: Told) {
      if (!("kind" in told)) {
        connection ??= host?.connect(reply);
        connection?.hear(told);
      } else if (told.kind === "ready") {
        forget = gathering.add(number, reply);
        onReady(told);
        ready.resolve();
      } else void gathering.hear(told, reply);
    },
    onExit() {
      forget();
      connection?.end();
    },
  });
  return { pid: child.pid, ready: ready.promise, exited: child.exited, kill: (signal) => child.kill(signal) };
}
