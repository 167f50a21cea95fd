import { resolve } from "node:path";
import type { Command } from "commander";
import { loadConfig } from "../../config.ts";
import { describeBackup } from "../output/backup.ts";
import type { Output } from "../output/output.ts";

type Options = { config?: string; dataDir?: string; json?: true };

/** `herald restore`. */
export function addRestoreCommand(program: Command, output: Output): void {
  program
    .command("restore <file>")
    .description("restore a backup into a data folder that holds no database")
    .option("--data-dir <folder>", "data folder (default: HERALD_DATA_DIR)")
    .option("--config <file>", "settings file, as for `herald serve`")
    .option("--json", "print one JSON object")
    .addHelpText("after", "\nExample:\n  herald restore /backups/herald-2026-11-22.db --data-dir /var/lib/herald")
    .action(async (file: string, { config: configFile, dataDir, json }: Options) => {
      const given = dataDir === undefined ? {} : { HERALD_DATA_DIR: dataDir };
      const config = loadConfig({ ...process.env, ...given }, configFile);
      const { restore } = await import("../../server/backup.ts");
      const facts = await restore(config, file);
      const folder = resolve(config.HERALD_DATA_DIR);
      if (json) output.json({ folder, ...facts });
      else
        output.result(
          `${describeBackup(`Restored to ${folder}`, facts)}\nStart the server with this folder as HERALD_DATA_DIR.`,
        );
    });
}
