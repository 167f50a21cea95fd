import type { Command } from "commander";
import { accessServer, addClientOptions, type ClientOptions } from "../../client-options.ts";
import type { Output } from "../../output/output.ts";
import { dryRunHelp, tellDryRun } from "./dry-run.ts";

type RecallOptions = ClientOptions & { org: string; from: string; cid: string; dryRun?: true; json?: true };

const examples = `
Example:
  herald recall --org demo --from alice --cid welcome 01a1f910-573b-7e5f-8a9b-0c1d2e3f4a5b`;

/** `herald recall`. */
export function addRecallCommand(program: Command, output: Output): void {
  const command = program
    .command("recall")
    .description("take messages of a conversation back: their texts are removed, and online participants hear of it")
    .argument(
      "<server_mid...>",
      "ids that the server assigned to the messages, at most 100; all are taken back, or none",
    )
    .requiredOption("--org <id>", "organization")
    .requiredOption("--from <uid>", "participant who takes them back, whoever sent them")
    .requiredOption("--cid <id>", "conversation")
    .option("--dry-run", dryRunHelp)
    .option("--json", "print the server's response as one JSON object");
  addClientOptions(command)
    .addHelpText("after", examples)
    .action(async (ids: string[], { org, from, cid, dryRun, json, ...options }: RecallOptions) => {
      const envelope = { organizationId: org, senderId: from, messageDelete: { cid, ids, type: "all" as const } };
      const admin = accessServer(options).admin();
      if (dryRun) return tellDryRun(await admin.tryRecall(envelope), json, output);
      const answer = await admin.recallMessages(envelope);
      if (json) return output.json(answer);
      const { size } = new Set(ids);
      output.result(`took back ${size === 1 ? "a message" : `${size} messages`}`);
    });
}
