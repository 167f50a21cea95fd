import type { Command } from "commander";
import type { Output } from "../../output/output.ts";
import { addCall, addOrganizationCommand } from "../../server-commands.ts";

type TypingOptions = { org: string; from: string; cid: string; stop?: true };

const help = `
Examples:
  herald typing --org demo --from alice --cid welcome
  herald typing --org demo --from alice --cid welcome --stop`;

/** `herald typing`. */
export function addTypingCommand(program: Command, output: Output): void {
  const description = "tell the other participants of a conversation who are online that a user is typing";
  const command = addOrganizationCommand(program, "typing", description)
    .requiredOption("--from <uid>", "who types, a participant of the conversation")
    .requiredOption("--cid <id>", "conversation")
    .option("--stop", "tell that the user has stopped");
  addCall(command, output, {
    help,
    json: "print the server's response as one JSON object",
    async call({ admin }, { org, from, cid, stop }: TypingOptions) {
      const status = stop ? ("stop" as const) : ("start" as const);
      await admin().tellTyping({ organizationId: org, senderId: from, typing: { cid, status } });
      return { success: true };
    },
    done: (_answer, { from, cid, stop }: TypingOptions) =>
      `told that ${from} ${stop ? "has stopped typing" : "is typing"} in ${cid}`,
  });
}
