import { createWriteStream, existsSync, renameSync, rmSync, statSync } from "node:fs";
import { basename } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { Command } from "commander";
import { accessServer, addClientOptions, type ClientOptions } from "../../client-options.ts";
import { CliError, exitCodes } from "../../exit-codes.ts";
import { printFields } from "../../output/fields.ts";
import type { Output } from "../../output/output.ts";
import { printableLine } from "../../output/printable.ts";
import { addAct, addCall, addGroup, addOrganizationCommand, type InOrganization } from "../../server-commands.ts";

/** `herald files upload`, `get`, `download` and `delete`. */
export function addFileCommands(program: Command, output: Output): void {
  const files = addGroup(program, "files", "files that messages name");
  const addOne = (name: string, description: string) =>
    addOrganizationCommand(files, name, description).argument("<file_id>", "id of the file");

  addUpload(files, output);
  addCall(addOne("get", "show what is known of a file"), output, {
    help: "\nExample:\n  herald files get 01a1fb4a-6a00-7000-8000-000000000002 --org demo",
    call: ({ admin }, id: string, { org }: InOrganization) => admin().getFile(org, id),
    show({ name, size, content_type, sha256, created_at }, id: string) {
      const fields = [
        ["name", name],
        ["size", `${size} bytes`],
        ["type", content_type],
        ["sha256", sha256 ?? "none, as its bytes are not uploaded yet"],
        ["created", created_at],
      ] as const;
      printFields(id, fields, output);
    },
  });
  addDownload(files, output);
  addAct(addOne("delete", "remove a file; messages that name it stay as they are"), output, "deleted", {
    help: "\nExample:\n  herald files delete 01a1fb4a-6a00-7000-8000-000000000002 --org demo",
    act: (admin, id, { org }: InOrganization) => admin.deleteFile(org, id),
  });
}

type UploadOptions = InOrganization & { name?: string; type?: string; as?: string };

const uploadHelp = `
The line that it prints is what --attachment of \`herald send message\` takes.

Examples:
  herald files upload photo.png --org demo
  herald send message --org demo --from alice --to welcome "Look" --attachment "$(herald files upload photo.png --org demo)"
  herald files upload report.pdf --org demo --as 01a1fb4a-6a00-7000-8000-000000000002`;

/** `herald files upload`. */
function addUpload(files: Command, output: Output): void {
  const command = addOrganizationCommand(files, "upload", "upload a file, for the attachment of a message")
    .argument("<file>", "path of the file")
    .option("--name <name>", "name that recipients see (default: that of the file)")
    .option("--type <type>", "media type (default: what the file's name suggests)")
    .option("--as <file_id>", "store it as the file that a send announced: its attachment had no file_id");
  addCall(command, output, {
    help: uploadHelp,
    json: "print the server's response as one JSON object",
    async call({ admin }, path: string, { org, name = basename(path), type, as }: UploadOptions) {
      if (!existsSync(path) || !statSync(path).isFile())
        throw new CliError(exitCodes.usage, `${path} is no file; give the path of one.`);
      const bytes = Bun.file(path);
      const options = { contentType: type ?? bytes.type };
      if (as !== undefined) return await admin().putFile(org, as, bytes, options);
      return await admin().upload(org, name, bytes, options);
    },
    show(file, _path, { as }: UploadOptions) {
      output.result(printableLine(`${file.name}:${file.size}:${file.content_type}:${file.file_id}`));
      if (as === undefined) output.note(output.noteStyle.dim("a file that no message names within 24 h is removed"));
    },
  });
}

type DownloadOptions = ClientOptions & { org?: string };

/** `herald files download`. The bytes go to a file, which is whole or not there, or to stdout. */
function addDownload(files: Command, output: Output): void {
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
