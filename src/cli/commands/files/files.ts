import type { Command } from "commander";
import { printFields } from "../../output/fields.ts";
import type { Output } from "../../output/output.ts";
import { addAct, addCall, addGroup, addOrganizationCommand, type InOrganization } from "../../server-commands.ts";
import { addDownload } from "./download.ts";
import { addUpload } from "./upload.ts";

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
