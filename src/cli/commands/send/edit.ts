import type { Command } from "commander";
import type { CustomParameters } from "../../../../sdk/admin.ts";
import { parseCustomParameters } from "../../arguments.ts";
import type { Output } from "../../output/output.ts";
import { printableLine } from "../../output/printable.ts";
import { addCall, type InOrganization } from "../../server-commands.ts";
import { dryRunHelp, tellDryRun } from "./dry-run.ts";
import { readStandardInput } from "./standard-input.ts";

type EditOptions = InOrganization & { from: string; x?: CustomParameters; dryRun?: true };

const help = `
Examples:
  herald edit --org demo --from alice 01a1f910-573b-7e5f-8a9b-0c1d2e3f4a5b "Hello, Bob!"
  herald edit --org demo --from alice 01a1f910-573b-7e5f-8a9b-0c1d2e3f4a5b - < new-text`;

/** `herald edit`. */
export function addEditCommand(program: Command, output: Output): void {
  const command = program
    .command("edit")
    .description("change the text of a message; its online participants hear of it immediately")
    .argument("<server_mid>", "id that the server assigned to the message")
    .argument("<body>", "new text; - reads it from standard input and drops one trailing line break")
    .requiredOption("--org <id>", "organization")
    .requiredOption("--from <uid>", "sender of the message")
    .option("--x <json>", "new custom parameters, a JSON object (default: they stay)", parseCustomParameters)
    .option("--dry-run", dryRunHelp);
  addCall(command, output, {
    help,
    json: "print the server's response as one JSON object",
    async call({ admin }, id: string, text: string, { org, from, dryRun, ...x }: EditOptions) {
      const body = text === "-" ? await readStandardInput() : text;
      const envelope = { organizationId: org, senderId: from, messageEdit: { id, body, ...x } };
      return dryRun ? await admin().tryEdit(envelope) : await admin().editMessage(envelope);
    },
    show(answer, id: string) {
      if ("dry_run" in answer) tellDryRun(answer, output);
      else output.result(printableLine(`edited ${id}`));
    },
  });
}
