import type { Command } from "commander";
import { type Config, loadConfig } from "../../config.ts";
import type { Output } from "../output/output.ts";

/** `herald migrate`. */
export function addMigrateCommand(program: Command, output: Output): void {
  program
    .command("migrate")
    .description("migrate the database to this version of Herald; `herald serve` does this automatically")
    .option("--config <file>", "settings file with one HERALD_NAME=value per line; environment variables override it")
    .option("--json", "print one JSON object")
    .addHelpText("after", "\nExamples:\n  herald migrate\n  HERALD_DATA_DIR=/var/lib/herald herald migrate --json")
    .action((options: { config?: string; json?: true }) =>
      migrateDatabase(loadConfig(process.env, options.config), options.json, output),
    );
}

/** Migrates the configured database, reporting progress. */
export async function migrateDatabase(config: Config, json: true | undefined, output: Output): Promise<void> {
  const { migrate } = await import("../../server/preparing.ts");
  const { from, to } = await migrate(config, (message, facts) =>
    output.note([message, ...Object.entries(facts).map(([name, fact]) => `${name}=${fact}`)].join(" ")),
  );
  if (json) return output.json({ from, to });
  output.result(
    from === to ? `The database is already at version ${to}.` : `Migrated the database from version ${from} to ${to}.`,
  );
}
