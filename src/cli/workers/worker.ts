import type { Command } from "commander";
import { loadConfig } from "../../config.ts";
import type { findPorts } from "../../server/listen.ts";
import type { Herald } from "../../server.ts";
import { CliError, exitCodes } from "../exit-codes.ts";
import { ownCommand } from "../own-command.ts";
import { explained, stopInTime } from "../start-stop.ts";
import type { Worker } from "./supervisor.ts";
import { type createGathering, createWorkerMetrics, type FromWorker, type ToWorker } from "./worker-metrics.ts";

/** What a worker reports when it accepts requests. */
export type WorkerReady = Pick<Herald, "demo">;

type Told = ({ kind: "ready" } & WorkerReady) | FromWorker;

/** `herald worker`, which only `herald serve --workers` starts. It exits with its parent, however that ends. */
export function addWorkerCommand(program: Command): void {
  program
    .command("worker <number>", { hidden: true })
    .option("--config <file>")
    .action(async (number: string, { config: configFile }: { config?: string }) => {
      if (process.send === undefined)
        throw new CliError(exitCodes.usage, "only `herald serve --workers` can start a worker");
      const tell = (message: Told) => void process.send?.(message);
      const stopped = Promise.withResolvers<unknown>();
      // Ctrl-C reaches every process of the terminal's group, but the parent decides when to stop.
      process
        .on("SIGINT", () => undefined)
        .on("SIGTERM", stopped.resolve)
        .on("disconnect", stopped.resolve);
      const config = loadConfig(process.env, configFile);
      const { startHerald } = await import("../../server.ts");
      let herald: Herald | undefined;
      const metrics = createWorkerMetrics(tell, () => herald?.metrics() ?? []);
      process.on("message", (message: ToWorker) => metrics.hear(message));
      herald = await explained(startHerald(config, { worker: Number(number), gatherMetrics: metrics.gather }));
      tell({ kind: "ready", demo: herald.demo });
      await stopped.promise;
      await stopInTime(herald);
    });
}

type Options = {
  ports: Awaited<ReturnType<typeof findPorts>>["ports"];
  configFile: string | undefined;
  gathering: ReturnType<typeof createGathering>;
  onReady(told: WorkerReady): void;
};

/** Starts worker `number` on the ports. Calls `onReady` with the worker's report when it accepts requests. */
export function spawnWorker(number: number, { ports, configFile, gathering, onReady }: Options): Worker {
  const ready = Promise.withResolvers<void>();
  const config = configFile === undefined ? [] : ["--config", configFile];
  let forget = () => {};
  const child = Bun.spawn([...ownCommand, "worker", String(number), ...config], {
    env: { ...process.env, ...ports },
    stdio: ["ignore", "inherit", "inherit"],
    ipc(told: Told, worker) {
      const reply = (message: ToWorker) => {
        if (worker.exitCode === null) worker.send(message);
      };
      if (told.kind !== "ready") return void gathering.hear(told, reply);
      forget = gathering.add(number, reply);
      onReady(told);
      ready.resolve();
    },
    onExit: () => forget(),
  });
  return { pid: child.pid, ready: ready.promise, exited: child.exited, kill: (signal) => child.kill(signal) };
}
