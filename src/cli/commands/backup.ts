import { createReadStream } from "node:fs";
import { pipeline } from "node:stream/promises";
import type { Command } from "commander";
import { loadConfig } from "../../config.ts";
import { CliError, exitCodes } from "../exit-codes.ts";
import { describeBackup } from "../output/backup.ts";
import type { Output } from "../output/output.ts";

type Options = { config?: string; json?: true };

/** `herald backup`. */
export function addBackupCommand(program: Command, output: Output): void {
  program
    .command("backup <file>")
    .description("back up the embedded database and the generated secrets to one file, also while the server runs")
    .option("--config <file>", "settings file, as for `herald serve`")
    .option("--json", "print one JSON object")
    .addHelpText(
      "after",
      "\nThe file holds messages and secrets; only its owner can read it. `-` writes it to standard output.\n\nExamples:\n  herald backup /backups/herald-2026-11-22.db\n  herald backup - | gzip | ssh backup.example.org 'cat > herald.db.gz'",
    )
    .action(async (file: string, options: Options) => {
      const config = loadConfig(process.env, options.config);
      const { backUp, withBackup } = await import("../../server/backup.ts");
      if (file === "-") {
        if (output.isTerminal)
          throw new CliError(exitCodes.usage, "a backup is not text; send it to a file or a pipe, not to the terminal");
        await withBackup(config, (made) => pipeline(createReadStream(made), process.stdout, { end: false }));
        return;
      }
      const facts = await backUp(config, file);
      if (options.json) output.json({ file, ...facts });
      else output.result(describeBackup(`Backed up to ${file}, and checked it`, facts));
    });
}
