import type { Command } from "commander";
import type { CustomParameters } from "../../../../sdk/admin.ts";
import { readStandardInput } from "../../access/prompt.ts";
import { parseCustomParameters } from "../../arguments.ts";
import type { Output } from "../../output/output.ts";
import { printableLine } from "../../output/printable.ts";
import { addOrganizationCommand } from "../../server-commands.ts";
import { addSend } from "./send-command.ts";

const help = `
Examples:
  herald edit --org demo --from alice 01a1f910-573b-7e5f-8a9b-0c1d2e3f4a5b "Hello, Bob!"
  herald edit --org demo --from alice 01a1f910-573b-7e5f-8a9b-0c1d2e3f4a5b - < new-text`;

/** `herald edit`. */
export function addEditCommand(program: Command, output: Output): void {
  const description = "change the text of a message; its online participants hear of it immediately";
  const command = addOrganizationCommand(program, "edit", description)
    .argument("<server_mid>", "id that the server assigned to the message")
    .argument("<body>", "new text; - reads it from standard input and drops one trailing line break")
    .requiredOption("--from <uid>", "sender of the message")
    .option("--x <json>", "new custom parameters, a JSON object (default: they stay)", parseCustomParameters);
  addSend(command, output, {
    help,
    async content(id: string, text: string, { x }: { x?: CustomParameters }) {
      const body = text === "-" ? await readStandardInput() : text;
      return { messageEdit: { id, body, ...(x !== undefined && { x }) } };
    },
    tryOut: (admin, envelope) => admin.tryEdit(envelope),
    send: (admin, envelope) => admin.editMessage(envelope),
    show: (_answer, id: string) => output.result(printableLine(`edited ${id}`)),
  });
}
