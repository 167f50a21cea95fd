import type { Command } from "commander";
import type { Output } from "../../output/output.ts";
import { addCall, type InOrganization } from "../../server-commands.ts";
import { dryRunHelp, tellDryRun } from "./dry-run.ts";

type RecallOptions = InOrganization & { from: string; cid: string; dryRun?: true };

const help = `
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
    .option("--dry-run", dryRunHelp);
  addCall(command, output, {
    help,
    json: "print the server's response as one JSON object",
    async call({ admin }, ids: string[], { org, from, cid, dryRun }: RecallOptions) {
      const envelope = { organizationId: org, senderId: from, messageDelete: { cid, ids, type: "all" as const } };
      return dryRun ? await admin().tryRecall(envelope) : await admin().recallMessages(envelope);
    },
    show(answer, ids: string[]) {
      if ("dry_run" in answer) return tellDryRun(answer, output);
      const { size } = new Set(ids);
      output.result(`took back ${size === 1 ? "a message" : `${size} messages`}`);
    },
  });
}
