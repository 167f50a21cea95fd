import type { Command } from "commander";
import { loadConfig } from "../../config.ts";
import { CliError, exitCodes } from "../exit-codes.ts";
import type { Output } from "../output/output.ts";
import { migrateDatabase } from "./migrate.ts";

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
