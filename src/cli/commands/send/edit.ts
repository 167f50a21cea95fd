import type { Command } from "commander";
import type { CustomParameters } from "../../../../sdk/admin.ts";
import { parseCustomParameters } from "../../arguments.ts";
import { accessServer, addClientOptions, type ClientOptions } from "../../client-options.ts";
import type { Output } from "../../output/output.ts";
import { printableLine } from "../../output/printable.ts";
import { dryRunHelp, tellDryRun } from "./dry-run.ts";
import { readStandardInput } from "./standard-input.ts";

type EditOptions = ClientOptions & { org: string; from: string; x?: CustomParameters; dryRun?: true; json?: true };

const examples = `
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
    .option("--dry-run", dryRunHelp)
    .option("--json", "print the server's response as one JSON object");
  addClientOptions(command)
    .addHelpText("after", examples)
    .action(async (id: string, text: string, { org, from, x, dryRun, json, ...options }: EditOptions) => {
      const body = text === "-" ? await readStandardInput() : text;
      const messageEdit = { id, body, ...(x !== undefined && { x }) };
      const envelope = { organizationId: org, senderId: from, messageEdit };
      const admin = accessServer(options).admin();
      if (dryRun) return tellDryRun(await admin.tryEdit(envelope), json, output);
      const answer = await admin.editMessage(envelope);
      if (json) return output.json(answer);
      output.result(printableLine(`edited ${id}`));
    });
}
