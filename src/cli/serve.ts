import type { Command } from "commander";
import { type Config, describeSettings, loadConfig } from "../config.ts";
import { reachableUrl } from "./client-options.ts";
import { CliError, exitCodes } from "./exit-codes.ts";
import type { Output } from "./output.ts";
import { untilSignal } from "./signals.ts";
import { renderWelcome } from "./welcome.ts";

/** `herald serve`. */
export function addServeCommand(program: Command, output: Output): void {
  program
    .command("serve")
    .description("start the server; Ctrl-C or SIGTERM stops it gracefully, a second one at once")
    .option("--config <file>", "settings file, one HERALD_NAME=value a line; the environment wins over it")
    .addHelpText(
      "after",
      () =>
        `\n${settingsHelp()}\n\nExamples:\n  herald serve\n  HERALD_PORT=8080 HERALD_DATA_DIR=/var/lib/herald herald serve\n  herald serve --config /etc/herald.env`,
    )
    .action(({ config }: { config?: string }) => serve(config, output));
}

async function serve(configFile: string | undefined, output: Output): Promise<void> {
  const config = loadConfig(process.env, configFile);
  // Before the start: whoever sees "listening" in the log may stop the server at once.
  const stopped = untilSignal(process, (exitCode) => process.exit(exitCode));
  const { startHerald } = await import("../server.ts");
  const herald = await startHerald(config).catch((error: unknown) => {
    throw explainStart(error, config);
  });
  const { adminKey, demo } = herald;
  if (output.isTerminal || demo !== undefined || adminKey.isNew) {
    const started = { url: reachableUrl(herald.url), adminKey, demo, dataDir: config.HERALD_DATA_DIR, configFile };
    output.result(renderWelcome(started, output.resultStyle));
  }
  await stopped;
  await herald.stop().catch((error: Error) => {
    throw new CliError(exitCodes.failed, error.message);
  });
}

function explainStart(error: unknown, { HERALD_HOST: host, HERALD_PORT: port }: Config): unknown {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  const reasons: Record<string, string> = {
    EADDRINUSE: `port ${port} on ${host} is taken. Stop what listens there, or set HERALD_PORT to another one (0 picks a free one).`,
    EACCES: `port ${port} on ${host} is not allowed for this user. Set HERALD_PORT to one from 1024.`,
    EADDRNOTAVAIL: `this machine has no address ${host}. Set HERALD_HOST to one that it has, or to 0.0.0.0 for all.`,
    EINVAL: `${host} is no address to listen on. Set HERALD_HOST to one of this machine's, or to 0.0.0.0 for all.`,
  };
  const reason = typeof code === "string" ? reasons[code] : undefined;
  return reason === undefined ? error : new CliError(exitCodes.failed, reason);
}

function settingsHelp(): string {
  const settings = describeSettings();
  const width = Math.max(...settings.map(({ name }) => name.length)) + 2;
  const lines = settings.map(({ name, defaultValue, description }) => {
    const fallback = defaultValue === "" ? "" : ` (default: ${defaultValue})`;
    return `  ${name.padEnd(width)}${description}${fallback}`;
  });
  return ["Settings, from the environment or from the file of --config:", ...lines].join("\n");
}
