import { createWriteStream } from "node:fs";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { Command } from "commander";
import { accessServer, addClientOptions, type ClientOptions } from "../../client-options.ts";
import { CliError, exitCodes } from "../../exit-codes.ts";
import type { Output } from "../../output/output.ts";

/** `herald files download`. The bytes go to a file or to stdout. */
export function addDownload(files: Command, output: Output): void {
  const command = files
    .command("download")
    .description("download a file")
    .argument("<file_id>", "id of the file")
    .argument("[file]", "where to store it (default: stdout)");
  addClientOptions(command)
    .addHelpText("after", "\nExample:\n  herald files download 01a1fb4a-6a00-7000-8000-000000000002 photo.png")
    .action(async (id: string, path: string | undefined, access: ClientOptions) => {
      if (path === undefined && process.stdout.isTTY)
        throw new CliError(exitCodes.usage, "a file would fill the terminal; name one to store it in, or use a pipe.");
      const { body } = await accessServer(access).admin().download(id);
      const bytes = Readable.from(body ?? []);
      if (path === undefined) return await pipeline(bytes, process.stdout, { end: false });
      try {
        await pipeline(bytes, createWriteStream(path, { mode: 0o600 }));
      } catch (error) {
        if (error instanceof Error && "syscall" in error)
          throw new CliError(exitCodes.failed, `the file could not be written: ${error.message}`);
        throw error;
      }
      output.note(`stored ${path}`);
    });
}
