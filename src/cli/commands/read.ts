import type { Command } from "commander";
import type { Output } from "../output/output.ts";
import { printableLine } from "../output/printable.ts";
import { addOrganizationCommand } from "../server-commands.ts";
import { addSend } from "./send/send-command.ts";

type ReadOptions = { from: string; cid: string; upTo?: string };

const help = `
Examples:
  herald read --org demo --from bob --cid welcome
  herald read --org demo --from bob --cid welcome --up-to 01a1f910-573b-7e5f-8a9b-0c1d2e3f4a5b`;

/** `herald read`. */
export function addReadCommand(program: Command, output: Output): void {
  const description = "mark a conversation as read by a participant; the authors who are online hear it";
  const command = addOrganizationCommand(program, "read", description)
    .requiredOption("--from <uid>", "who has read, a participant of the conversation")
    .requiredOption("--cid <id>", "conversation")
    .option("--up-to <id>", "the last message that was read, by the id that the server assigned (default: all)");
  addSend(command, output, {
    help,
    content: ({ cid, upTo }: ReadOptions) => ({ messageRead: { cid, ...(upTo !== undefined && { ids: [upTo] }) } }),
    would: "would tell",
    tryOut: (admin, envelope) => admin.tryRead(envelope),
    async send(admin, envelope) {
      await admin.markRead(envelope);
      return { success: true };
    },
    show: (_answer, { from, cid, upTo }: ReadOptions) =>
      output.result(printableLine(`${cid} is read by ${from}${upTo === undefined ? "" : ` up to ${upTo}`}`)),
  });
}
