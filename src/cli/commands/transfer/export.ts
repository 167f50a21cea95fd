import { once } from "node:events";
import { createWriteStream } from "node:fs";
import type { Command } from "commander";
import { accessServer, addClientOptions, type ClientOptions } from "../../client-options.ts";
import { CliError, exitCodes } from "../../exit-codes.ts";
import type { Output } from "../../output/output.ts";
import { createProgressLine } from "../../output/progress-line.ts";

type ExportOptions = ClientOptions & { org: string; user?: string };

const lineFeed = 0x0a;

/** `herald export`. The lines go to a file or to stdout, progress to stderr. */
export function addExportCommand(program: Command, output: Output): void {
  const command = program
    .command("export [file]")
    .description("export an organization, one JSON object per line, as `herald import` takes it")
    .requiredOption("--org <id>", "organization to export")
    .option("--user <id>", "export only what is stored of this user");
  addClientOptions(command)
    .addHelpText(
      "after",
      "\nExamples:\n  herald export demo.ndjson --org demo\n  herald export --org demo | gzip > demo.ndjson.gz\n  herald export --org demo --user bob",
    )
    .action((file: string | undefined, options: ExportOptions) => exportTo(file, options, output));
}

async function exportTo(
  file: string | undefined,
  { org, user, ...access }: ExportOptions,
  output: Output,
): Promise<void> {
  const admin = accessServer(access).admin();
  const bytes = user === undefined ? admin.exportOrganization(org) : admin.exportUser(org, user);
  const target = file === undefined || file === "-" ? process.stdout : createWriteStream(file, { mode: 0o600 });
  const failed = Promise.withResolvers<never>();
  target.on("error", failed.reject);
  failed.promise.catch(() => undefined); // awaited below
  const progress = createProgressLine();
  let lines = 0;
  try {
    for await (const piece of bytes) {
      for (const byte of piece) if (byte === lineFeed) lines++;
      progress.addBytes(piece.length);
      progress.reach(lines);
      if (!target.write(piece)) await Promise.race([once(target, "drain"), failed.promise]);
    }
    if (target !== process.stdout)
      await Promise.race([new Promise<void>((resolve) => target.end(resolve)), failed.promise]);
  } catch (error) {
    if (error instanceof Error && "syscall" in error)
      throw new CliError(exitCodes.failed, `the export could not be written: ${error.message}`);
    throw error;
  } finally {
    progress.clear();
  }
  output.note(`exported ${lines} lines${progress.summary()}`);
}
