import type { Command } from "commander";
import type { Output } from "../output/output.ts";
import { printableLine } from "../output/printable.ts";
import { addCall, type InOrganization } from "../server-commands.ts";
import { dryRunHelp, tellDryRun } from "./send/dry-run.ts";

type ReadOptions = InOrganization & { from: string; cid: string; upTo?: string; dryRun?: true };

const help = `
Examples:
  herald read --org demo --from bob --cid welcome
  herald read --org demo --from bob --cid welcome --up-to 01a1f910-573b-7e5f-8a9b-0c1d2e3f4a5b`;

/** `herald read`. */
export function addReadCommand(program: Command, output: Output): void {
  const command = program
    .command("read")
    .description("mark a conversation as read by a participant; the authors who are online hear it")
    .requiredOption("--org <id>", "organization")
    .requiredOption("--from <uid>", "who has read, a participant of the conversation")
    .requiredOption("--cid <id>", "conversation")
    .option("--up-to <id>", "the last message that was read, by the id that the server assigned (default: all)")
    .option("--dry-run", dryRunHelp);
  addCall(command, output, {
    help,
    json: "print the server's response as one JSON object",
    async call({ admin }, { org, from, cid, upTo, dryRun }: ReadOptions) {
      const messageRead = { cid, ...(upTo !== undefined && { ids: [upTo] }) };
      const envelope = { organizationId: org, senderId: from, messageRead };
      if (dryRun) return await admin().tryRead(envelope);
      await admin().markRead(envelope);
      return { success: true };
    },
    show(answer, { from, cid, upTo }: ReadOptions) {
      if ("dry_run" in answer) return tellDryRun(answer, output, "would tell");
      output.result(printableLine(`${cid} is read by ${from}${upTo === undefined ? "" : ` up to ${upTo}`}`));
    },
  });
}
