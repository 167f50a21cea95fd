import type { Command } from "commander";
import { loadConfig } from "../../config.ts";
import type { Output } from "../output/output.ts";

/** `herald migrate`. */
export function addMigrateCommand(program: Command, output: Output): void {
  program
    .command("migrate")
    .description("bring the database to the version of this Herald and print it; `herald serve` does so by itself")
    .option("--config <file>", "settings file, one HERALD_NAME=value a line; the environment wins over it")
    .option("--json", "print one JSON object")
    .addHelpText("after", "\nExamples:\n  herald migrate\n  HERALD_DATA_DIR=/var/lib/herald herald migrate --json")
    .action(async (options: { config?: string; json?: true }) => {
      const config = loadConfig(process.env, options.config);
      const { migrate } = await import("../../server.ts");
      const { from, to } = await migrate(config, (message, facts) =>
        output.note([message, ...Object.entries(facts).map(([name, fact]) => `${name}=${fact}`)].join(" ")),
      );
      if (options.json) output.json({ from, to });
      else
        output.result(
          from === to
            ? `The database is at version ${to}; nothing to do.`
            : `The database went from version ${from} to ${to}.`,
        );
    });
}
