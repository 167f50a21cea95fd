import type { Command } from "commander";
import { CliError, exitCodes } from "../../exit-codes.ts";
import type { Output } from "../../output/output.ts";
import { printableLine } from "../../output/printable.ts";
import { addOrganizationCommand } from "../../server-commands.ts";
import { addSend } from "./send-command.ts";

type ReactOptions = { add?: string; remove?: string };

const help = `
Examples:
  herald react --org demo --from bob 01a1f910-573b-7e5f-8a9b-0c1d2e3f4a5b --add 👍
  herald react --org demo --from bob 01a1f910-573b-7e5f-8a9b-0c1d2e3f4a5b --remove 👍`;

/** `herald react`. */
export function addReactCommand(program: Command, output: Output): void {
  const description = "react to a message, or take a reaction back; its online participants hear of it immediately";
  const command = addOrganizationCommand(program, "react", description)
    .argument("<server_mid>", "id that the server assigned to the message")
    .requiredOption("--from <uid>", "participant who reacts")
    .option("--add <reaction>", "reaction to add: an emoji, or another text of at most 10 characters")
    .option("--remove <reaction>", "reaction to remove");
  addSend(command, output, {
    help,
    content(mid: string, { add, remove }: ReactOptions) {
      if (add === undefined && remove === undefined)
        throw new CliError(exitCodes.usage, "nothing says how to react. Give --add, --remove or both.");
      const change = { ...(add !== undefined && { add }), ...(remove !== undefined && { remove }) };
      return { messageReaction: { mid, ...change } };
    },
    tryOut: (admin, envelope) => admin.tryReaction(envelope),
    send: (admin, envelope) => admin.react(envelope),
    show: (_answer, mid: string) => output.result(printableLine(`reacted to ${mid}`)),
  });
}
