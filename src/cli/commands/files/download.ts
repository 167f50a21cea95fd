import { createWriteStream, existsSync, renameSync, rmSync, statSync } from "node:fs";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { Command } from "commander";
import { accessServer, addClientOptions, type ClientOptions } from "../../client-options.ts";
import { CliError, exitCodes } from "../../exit-codes.ts";
import type { Output } from "../../output/output.ts";

type DownloadOptions = ClientOptions & { org?: string };

/** `herald files download`. The bytes go to a file, which is whole or not there, or to stdout. */
export function addDownload(files: Command, output: Output): void {
  const command = files
    .command("download")
    .description("download a file")
    .argument("<file_id>", "id of the file")
    .argument("[file]", "where to store it (default: stdout)")
    .option("--org <id>", "organization of the file, if several have one of this id");
  addClientOptions(command)
    .addHelpText("after", "\nExample:\n  herald files download 01a1fb4a-6a00-7000-8000-000000000002 photo.png")
    .action(async (id: string, path: string | undefined, { org, ...access }: DownloadOptions) => {
      if (path === undefined && process.stdout.isTTY)
        throw new CliError(exitCodes.usage, "a file would fill the terminal; name one to store it in, or use a pipe.");
      const { body } = await accessServer(access).admin().download(id, { organization: org });
      const bytes = Readable.from(wholeOf(body ?? []));
      if (path === undefined) return await pipeline(bytes, process.stdout, { end: false });
      await store(bytes, path);
      output.note(`stored ${path}`);
    });
}

async function* wholeOf(body: AsyncIterable<Uint8Array> | Iterable<Uint8Array>): AsyncGenerator<Uint8Array, void> {
  try {
    yield* body;
  } catch {
    throw new CliError(exitCodes.unreachable, "the download broke off; run the command again.");
  }
}

/** Writes beside the file, and replaces it at the end. What is no regular file, such as a pipe, is written to as it is. */
async function store(bytes: Readable, path: string): Promise<void> {
  const isReplaced = !existsSync(path) || statSync(path).isFile();
  const target = isReplaced ? `${path}.${process.pid}.part` : path;
  try {
    await pipeline(bytes, createWriteStream(target, { mode: 0o600 }));
    if (isReplaced) renameSync(target, path);
  } catch (error) {
    if (isReplaced) rmSync(target, { force: true });
    if (error instanceof Error && "syscall" in error)
      throw new CliError(exitCodes.failed, `the file could not be written: ${error.message}`);
    throw error;
  }
}
