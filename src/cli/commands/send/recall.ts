import type { Command } from "commander";
import type { Output } from "../../output/output.ts";
import { addOrganizationCommand } from "../../server-commands.ts";
import { addSend } from "./send-command.ts";

const help = `
Example:
  herald recall --org demo --from alice --cid welcome 01a1f910-573b-7e5f-8a9b-0c1d2e3f4a5b`;

/** `herald recall`. */
export function addRecallCommand(program: Command, output: Output): void {
  const description =
    "take messages of a conversation back: their texts are removed, and online participants hear of it";
  const command = addOrganizationCommand(program, "recall", description)
    .argument(
      "<server_mid...>",
      "ids that the server assigned to the messages, at most 100; all are taken back, or none",
    )
    .requiredOption("--from <uid>", "participant who takes them back, whoever sent them")
    .requiredOption("--cid <id>", "conversation");
  addSend(command, output, {
    help,
    content: (ids: string[], { cid }: { cid: string }) => ({ messageDelete: { cid, ids, type: "all" as const } }),
    tryOut: (admin, envelope) => admin.tryRecall(envelope),
    send: (admin, envelope) => admin.recallMessages(envelope),
    show(_answer, ids: string[]) {
      const { size } = new Set(ids);
      output.result(`took back ${size === 1 ? "a message" : `${size} messages`}`);
    },
  });
}
