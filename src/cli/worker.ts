import type { Command } from "commander";
import { loadConfig } from "../config.ts";
import type { Herald } from "../server.ts";
import { CliError, exitCodes } from "./exit-codes.ts";
import { explainStart, stopInTime } from "./start-stop.ts";
import type { Worker } from "./supervisor.ts";

/** What a worker tells when it takes requests. */
export type WorkerReady = Pick<Herald, "demo">;

/** `herald worker`, which only `herald serve --workers` starts. It ends with its parent, however that ends. */
export function addWorkerCommand(program: Command): void {
  program
    .command("worker <number>", { hidden: true })
    .option("--config <file>")
    .action(async (number: string, { config: configFile }: { config?: string }) => {
      if (process.send === undefined)
        throw new CliError(exitCodes.usage, "`herald serve --workers` starts the workers");
      const stopped = Promise.withResolvers<unknown>();
      // Ctrl-C reaches every process of the terminal's group; when to stop is the parent's business.
      process
        .on("SIGINT", () => undefined)
        .on("SIGTERM", stopped.resolve)
        .on("disconnect", stopped.resolve);
      const config = loadConfig(process.env, configFile);
      const { startHerald } = await import("../server.ts");
      const herald = await startHerald(config, { worker: Number(number) }).catch((error: unknown) => {
        throw explainStart(error, config);
      });
      process.send({ demo: herald.demo } satisfies WorkerReady);
      await stopped.promise;
      await stopInTime(herald);
    });
}

/** Starts worker `number` on a port. `onReady` is called with what it tells when it takes requests. */
export function spawnWorker(
  number: number,
  { port, configFile, onReady }: { port: number; configFile: string | undefined; onReady(told: WorkerReady): void },
): Worker {
  const ready = Promise.withResolvers<void>();
  const config = configFile === undefined ? [] : ["--config", configFile];
  const child = Bun.spawn([process.execPath, Bun.main, "worker", String(number), ...config], {
    env: { ...process.env, HERALD_PORT: String(port) },
    stdio: ["ignore", "inherit", "inherit"],
    ipc(told: WorkerReady) {
      onReady(told);
      ready.resolve();
    },
  });
  return { pid: child.pid, ready: ready.promise, exited: child.exited, kill: (signal) => child.kill(signal) };
}
