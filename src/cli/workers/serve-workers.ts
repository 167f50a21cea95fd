import { type Config, ConfigError } from "../../config.ts";
import type { Herald } from "../../server.ts";
import { CliError, exitCodes } from "../exit-codes.ts";
import { untilSignal } from "../signals.ts";
import { explained } from "../start-stop.ts";
import { createSupervisor } from "./supervisor.ts";
import { spawnWorker, type WorkerReady } from "./worker.ts";
import { createGathering } from "./worker-metrics.ts";

type Options = {
  config: Config;
  configFile: string | undefined;
  count: number;
  /** Called once, when all workers accept requests. */
  onReady(herald: Pick<Herald, "url" | "adminUrl" | "adminKey" | "demo">): Promise<void>;
};

/**
 * Runs `count` nodes as processes on one port until a signal arrives. The kernel distributes connections among them. SIGUSR2
 * replaces them one at a time. With the embedded database, this process writes to it, and passes on what the nodes tell one
 * another. Throws `ConfigError` if the settings do not connect the nodes to each other.
 */
export async function serveWorkers({ config, configFile, count, onReady }: Options): Promise<void> {
  const isEmbedded = config.HERALD_DATABASE_URL === undefined;
  if (isEmbedded !== (config.HERALD_BUS_URL === undefined)) {
    throw new ConfigError(
      `--workers ${count} runs ${count} nodes, which share PostgreSQL and NATS, or the embedded database: set both HERALD_DATABASE_URL and HERALD_BUS_URL, or neither`,
    );
  }
  const stopped = untilSignal(process, (exitCode) => process.exit(exitCode));
  const { openWorkersHost, prepareWorkers } = await import("../../server/preparing.ts");
  const { url, adminUrl, ports, adminKey, log } = await explained(prepareWorkers(config));
  const host = isEmbedded ? await openWorkersHost(config, log) : undefined;
  let demo: Herald["demo"];
  const onTold = (told: WorkerReady) => {
    demo ??= told.demo;
  };
  const gathering = createGathering(count);
  const supervisor = createSupervisor({
    count,
    spawn: (number) => spawnWorker(number, { ports, configFile, gathering, host, onReady: onTold }),
    onEnd: (ended) => log.error(ended, "a worker exited unexpectedly and will be restarted"),
  });
  process.on("exit", supervisor.kill);
  const areStopped = stopped.then(() => {
    log.info({ workers: count }, "stopping");
    return supervisor.stop();
  });

  const start = await supervisor.start();
  if (start.outcome === "failed") {
    const exitCode = start.code === exitCodes.usage ? exitCodes.usage : exitCodes.failed;
    throw new CliError(exitCode, "a worker failed to start, so the others were stopped");
  }
  if (start.outcome === "ready") {
    log.info({ url, workers: count }, "listening");
    await onReady({ url, adminUrl, adminKey, demo });
    let isReplacing = false;
    process.on("SIGUSR2", () => {
      if (isReplacing) return;
      isReplacing = true;
      log.info({ workers: count }, "replacing the workers, one at a time");
      const replaced = supervisor.replaceAll().finally(() => {
        isReplacing = false;
      });
      replaced.then(
        () => log.info({ workers: count }, "replaced"),
        (error: unknown) => log.error({ err: error }, "could not replace the workers"),
      );
    });
    await supervisor.keep();
  }
  const areClean = await areStopped;
  await host?.close();
  if (!areClean) throw new CliError(exitCodes.failed, "a worker did not stop cleanly");
  log.info("stopped");
}
