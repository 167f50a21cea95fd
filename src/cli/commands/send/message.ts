import type { Command } from "commander";
import type { AttachmentInput, CustomParameters, MessageEnvelope } from "../../../../sdk/admin.ts";
import { attachmentOption, parseCustomParameters, parsePositive } from "../../arguments.ts";
import { CliError, exitCodes } from "../../exit-codes.ts";
import type { Output } from "../../output/output.ts";
import { printableLine } from "../../output/printable.ts";
import { tellId } from "../../output/tell-id.ts";
import { addCall, type InOrganization } from "../../server-commands.ts";
import { dryRunHelp, tellDryRun } from "./dry-run.ts";
import { readStandardInput } from "./standard-input.ts";
import { tellDelivery, waitHelp } from "./wait.ts";

type ContentOptions = { x?: CustomParameters; attachment?: AttachmentInput[] };
type MessageOptions = InOrganization &
  ContentOptions & { from: string; to: string; id?: string; wait?: number; dryRun?: true };

const help = `
Examples:
  herald send message --org demo --from alice --to welcome "Hello, Bob"
  herald send message --org demo --from alice --to welcome --x '{"priority":"high"}' "Now"
  herald send message --org demo --from alice --to welcome --attachment "$(herald files upload photo.png --org demo)"
  herald send message --org demo --from alice --to welcome --wait 5 "Are you there?"
  git log -1 | herald send message --org demo --from alice --to welcome -

Put a text that begins with a dash after --:
  herald send message --org demo --from alice --to welcome -- "- a text that begins with a dash"`;

/** `herald send message`. */
export function addSendMessageCommand(send: Command, output: Output): void {
  const command = send
    .command("message")
    .description("send a message to a conversation; its online participants receive it immediately")
    .argument("[body]", "text of the message; - reads it from standard input and drops one trailing line break")
    .requiredOption("--org <id>", "organization")
    .requiredOption("--from <uid>", "sender, a participant of the conversation")
    .requiredOption("--to <cid>", "conversation")
    .option("--id <id>", "id of this send; repeating a send with the same id sends nothing twice (default: random)")
    .option("--x <json>", "custom parameters, a JSON object", parseCustomParameters)
    .addOption(attachmentOption())
    .option("--wait <seconds>", waitHelp, parsePositive)
    .option("--dry-run", dryRunHelp);
  addCall(command, output, {
    help,
    json: "print the server's response as one JSON object",
    async call({ admin }, body: string | undefined, { org, from, to, wait, dryRun, ...options }: MessageOptions) {
      const { id = Bun.randomUUIDv7(), ...more } = options;
      const message = { id, cid: to, ...(await readContent(body, more)) };
      const envelope = { organizationId: org, senderId: from, message };
      if (dryRun) return await admin().tryMessage(envelope);
      return await admin().sendMessage(envelope, { wait }).catch(tellId(id));
    },
    show(answer, _body, { wait }: MessageOptions) {
      if ("dry_run" in answer) return tellDryRun(answer, output);
      const { mid, server_mid, t } = answer.ask;
      output.result(printableLine(`stored as ${server_mid} (mid ${mid}, t ${t})`));
      tellDelivery(answer, wait, output);
    },
  });
}

/** The content of a message: its text from the arguments or standard input, and what the options add. */
export async function readContent(
  body: string | undefined,
  { x, attachment }: ContentOptions,
): Promise<Omit<MessageEnvelope["message"], "id" | "cid">> {
  const text = body === "-" ? await readStandardInput() : body;
  if (text === undefined && attachment === undefined) {
    throw new CliError(exitCodes.usage, "nothing to send. Give a text, - for standard input, or --attachment.");
  }
  return {
    ...(text === undefined ? {} : { body: text }),
    ...(x === undefined ? {} : { x }),
    ...(attachment === undefined ? {} : { attachments: attachment }),
  };
}
