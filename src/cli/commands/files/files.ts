import type { Command } from "commander";
import { accessServer, addClientOptions, type ClientOptions } from "../../client-options.ts";
import { printFields } from "../../output/fields.ts";
import type { Output } from "../../output/output.ts";
import { printableLine } from "../../output/printable.ts";
import { addDownload } from "./download.ts";
import { addUpload } from "./upload.ts";

type InOrganization = ClientOptions & { org: string; json?: true };

/** `herald files upload`, `get`, `download` and `delete`. */
export function addFileCommands(program: Command, output: Output): void {
  const files = program.command("files").description("files that messages name").helpCommand(false);
  addUpload(files, output);
  addGet(files, output);
  addDownload(files, output);
  addDelete(files, output);
}

function addGet(files: Command, output: Output): void {
  addOne(files.command("get").description("show what is known of a file"))
    .addHelpText("after", "\nExample:\n  herald files get 01a1fb4a-6a00-7000-8000-000000000002 --org demo")
    .action(async (id: string, { org, json, ...access }: InOrganization) => {
      const file = await accessServer(access).admin().getFile(org, id);
      if (json) return output.json(file);
      const { name, size, content_type, sha256, created_at } = file;
      const fields = [
        ["name", name],
        ["size", `${size} bytes`],
        ["type", content_type],
        ["sha256", sha256 ?? "none, as its bytes are not uploaded yet"],
        ["created", created_at],
      ] as const;
      printFields(id, fields, output);
    });
}

function addDelete(files: Command, output: Output): void {
  addOne(files.command("delete").description("remove a file; messages that name it stay as they are"))
    .addHelpText("after", "\nExample:\n  herald files delete 01a1fb4a-6a00-7000-8000-000000000002 --org demo")
    .action(async (id: string, { org, json, ...access }: InOrganization) => {
      await accessServer(access).admin().deleteFile(org, id);
      if (json) return output.json({ deleted: id });
      output.result(printableLine(`deleted ${id}`));
    });
}

/** Adds what each command about one file has. */
function addOne(command: Command): Command {
  return addClientOptions(
    command
      .argument("<file_id>", "id of the file")
      .requiredOption("--org <id>", "organization")
      .option("--json", "print one JSON object"),
  );
}
