import { createReadStream } from "node:fs";
import { resolve } from "node:path";
import { pipeline } from "node:stream/promises";
import type { Command } from "commander";
import { loadConfig } from "../../config.ts";
import type { backUp } from "../../server/backup.ts";
import { CliError, exitCodes } from "../exit-codes.ts";
import type { Output } from "../output/output.ts";

type Options = { config?: string; dataDir?: string; json?: true };
type Facts = Awaited<ReturnType<typeof backUp>>;

const mebibyte = 2 ** 20;

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

/** What a backup holds, in lines for people. */
function describeBackup(done: string, { bytes, organizations, messages, schema, files }: Facts): string {
  const size = bytes < mebibyte ? `${Math.ceil(bytes / 1024)} KiB` : `${Math.round(bytes / mebibyte)} MiB`;
  return [
    `${done}: ${size}, schema version ${schema}.`,
    `  organizations  ${organizations}`,
    `  messages       ${messages}`,
    `  secrets        ${files.length === 0 ? "none, as all of them are settings" : files.join(", ")}`,
  ].join("\n");
}
