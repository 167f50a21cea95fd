import { existsSync, statSync } from "node:fs";
import { basename } from "node:path";
import type { Command } from "commander";
import { CliError, exitCodes } from "../../exit-codes.ts";
import type { Output } from "../../output/output.ts";
import { printableLine } from "../../output/printable.ts";
import { addCall, addOrganizationCommand, type InOrganization } from "../../server-commands.ts";

type UploadOptions = InOrganization & { name?: string; type?: string; as?: string };

const help = `
The line that it prints is what --attachment of \`herald send message\` takes.

Examples:
  herald files upload photo.png --org demo
  herald send message --org demo --from alice --to welcome "Look" --attachment "$(herald files upload photo.png --org demo)"
  herald files upload report.pdf --org demo --as 01a1fb4a-6a00-7000-8000-000000000002`;

/** `herald files upload`. */
export function addUpload(files: Command, output: Output): void {
  const command = addOrganizationCommand(files, "upload", "upload a file, for the attachment of a message")
    .argument("<file>", "path of the file")
    .option("--name <name>", "name that recipients see (default: that of the file)")
    .option("--type <type>", "media type (default: what the file's name suggests)")
    .option("--as <file_id>", "store it as the file that a send announced: its attachment had no file_id");
  addCall(command, output, {
    help,
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
