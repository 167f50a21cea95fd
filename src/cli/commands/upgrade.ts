import type { Command } from "commander";
import { type Config, loadConfig } from "../../config.ts";
import { CliError, exitCodes } from "../exit-codes.ts";
import type { Output } from "../output/output.ts";

type Options = { check?: true; config?: string; json?: true };

/** `herald upgrade`. */
export function addUpgradeCommand(program: Command, output: Output): void {
  program
    .command("upgrade")
    .description("upgrade the database to this version of Herald, like its start does; or only say what that means")
    .option("--check", "change nothing: say which migrations are due, and whether one can go back")
    .option("--config <file>", "settings file, as for `herald serve`")
    .option("--json", "print one JSON object")
    .addHelpText("after", "\nExamples:\n  herald upgrade --check\n  herald upgrade --config /etc/herald/herald.env")
    .action(async ({ check, config: configFile, json }: Options) => {
      const config = loadConfig(process.env, configFile);
      if (!check) return await migrateDatabase(config, json, output);
      const { readSchemaOf } = await import("../../server/doctor/database-checks.ts");
      const schema = await readSchemaOf(config);
      if (json) output.json(schema);
      const { version, known, pending, keepsOlder, isTooNew } = schema;
      if (isTooNew)
        throw new CliError(
          exitCodes.failed,
          `a newer version of Herald has migrated the database, and this one knows only ${known} migrations.\nRun that version, or restore a backup made before it.`,
        );
      if (json) return;
      if (version === 0) return output.result("There is no database yet; the first start creates it.");
      if (pending.length === 0) return output.result(`The database is at version ${version}: nothing to do.`);
      output.result(`The database is at version ${version}. An upgrade to ${known} runs:`);
      for (const name of pending) output.result(`  ${name}`);
      output.result(
        keepsOlder
          ? "Nodes of the previous version can keep running meanwhile, and afterwards."
          : "Versions before this one cannot use the database afterwards. Make a backup first: `herald backup`.",
      );
    });
}

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
async function migrateDatabase(config: Config, json: true | undefined, output: Output): Promise<void> {
  const { migrate } = await import("../../server/preparing.ts");
  const { from, to } = await migrate(config, (message, facts) =>
    output.note([message, ...Object.entries(facts).map(([name, fact]) => `${name}=${fact}`)].join(" ")),
  );
  if (json) return output.json({ from, to });
  output.result(
    from === to ? `The database is already at version ${to}.` : `Migrated the database from version ${from} to ${to}.`,
  );
}
