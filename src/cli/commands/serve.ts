import { setImmediate } from "node:timers/promises";
import type { Command } from "commander";
import { describeSettings, loadConfig } from "../../config.ts";
import { reachableUrl } from "../../server/local-url.ts";
import type { Herald } from "../../server.ts";
import { parseWorkers } from "../arguments.ts";
import type { Output } from "../output/output.ts";
import { renderWelcome } from "../output/welcome.ts";
import { untilSignal } from "../signals.ts";
import { explained, stopInTime } from "../start-stop.ts";
import { serveWorkers } from "../workers/serve-workers.ts";

/** `herald serve`. */
export function addServeCommand(program: Command, output: Output): void {
  program
    .command("serve")
    .description("start the server; Ctrl-C or SIGTERM stops it gracefully, a second one immediately")
    .option("--config <file>", "settings file with one HERALD_NAME=value per line; environment variables override it")
    .option(
      "--workers <count>",
      "number of nodes to run, as processes that share the port, and PostgreSQL and NATS or the embedded database; SIGUSR2 replaces them one at a time",
      parseWorkers,
      1,
    )
    .addHelpText(
      "after",
      () =>
        `\n${settingsHelp()}\n\nExamples:\n  herald serve\n  HERALD_PORT=8080 HERALD_DATA_DIR=/var/lib/herald herald serve\n  herald serve --config /etc/herald.env\n  herald serve --config /etc/herald.env --workers 4`,
    )
    .action((options: Options) => serve(options, output));
}

type Options = { config?: string; workers: number };

async function serve({ config: configFile, workers }: Options, output: Output): Promise<void> {
  const config = loadConfig(process.env, configFile);
  const welcome = async (herald: Pick<Herald, "url" | "adminUrl" | "adminKey" | "demo">) => {
    const { url, adminUrl, adminKey, demo } = herald;
    if (!output.isTerminal && demo === undefined && !adminKey.isNew) return;
    await setImmediate(); // the log writes at the end of a turn, and "listening" should come first
    const { value, file } = adminKey;
    const started = {
      url: reachableUrl(url) + config.HERALD_BASE_PATH,
      adminUrl: reachableUrl(adminUrl) + config.HERALD_BASE_PATH,
      // Output that does not go to a terminal is kept: in the system log, in a file, at the end of a pipe.
      adminKey: { value, file, isShown: adminKey.isNew && output.isTerminal },
      demo,
      dataDir: config.HERALD_DATA_DIR,
      configFile,
    };
    output.result(renderWelcome(started, output.resultStyle));
  };
  if (workers > 1) return await serveWorkers({ config, configFile, count: workers, onReady: welcome });

  // Before the start: whoever sees "listening" in the log may stop the server immediately.
  const stopped = untilSignal(process, (exitCode) => process.exit(exitCode));
  const { startHerald } = await import("../../server.ts");
  const herald = await explained(startHerald(config));
  await welcome(herald);
  await stopped;
  await stopInTime(herald);
}

function settingsHelp(): string {
  const settings = describeSettings();
  const width = Math.max(...settings.map(({ name }) => name.length)) + 2;
  const lines = settings.map(({ name, defaultValue, description }) => {
    const fallback = defaultValue === "" ? "" : ` (default: ${defaultValue})`;
    return `  ${name.padEnd(width)}${description}${fallback}`;
  });
  return ["Settings, as environment variables or in the file given with --config:", ...lines].join("\n");
}
