import { type Command, Option } from "commander";
import type { AdminClient, AttachmentInput, CustomParameters, MessageEnvelope } from "../../../../sdk/admin.ts";
import { readPieces, readStandardInput } from "../../access/prompt.ts";
import { attachmentOption, parseCustomParameters, parsePositive } from "../../arguments.ts";
import { tellId } from "../../errors/advised-error.ts";
import { CliError, exitCodes } from "../../exit-codes.ts";
import type { Output } from "../../output/output.ts";
import { printableLine } from "../../output/printable.ts";
import { addOrganizationCommand } from "../../server-commands.ts";
import { addSend, addSendOptions, type SendOptions, sendMembersOf, tellDelivery, waitHelp } from "./send-command.ts";

/** What the options add to the text of a message. */
export type ContentOptions = SendOptions & { x?: CustomParameters; attachment?: AttachmentInput[] };
type MessageOptions = ContentOptions & { to: string; id?: string; wait?: number; stream?: true };

type Sent = Awaited<ReturnType<AdminClient["sendMessage" | "pipe"]>>;

const streamHelp =
  "send standard input as it comes, as a message that grows until it ends; a text that is given is its beginning";

const help = `
Examples:
  herald send message --org demo --from alice --to welcome "Hello, Bob"
  herald send message --org demo --from alice --to welcome --x '{"priority":"high"}' "Now"
  herald send message --org demo --from alice --to welcome --attachment "$(herald files upload photo.png --org demo)"
  herald send message --org demo --from alice --to welcome --wait 5 "Are you there?"
  herald send message --org demo --from alice --to welcome --expires 15m "Your code is 4711."
  git log -1 | herald send message --org demo --from alice --to welcome -
  npm test | herald send message --org demo --from alice --to welcome --stream

Put a text that begins with a dash after --:
  herald send message --org demo --from alice --to welcome -- "- a text that begins with a dash"`;

/** `herald send message`. */
export function addSendMessageCommand(send: Command, output: Output): void {
  const description = "send a message to a conversation; its online participants receive it immediately";
  const command = addOrganizationCommand(send, "message", description)
    .argument("[body]", "text of the message; - reads it from standard input and drops one trailing line break")
    .requiredOption("--from <uid>", "sender, a participant of the conversation")
    .requiredOption("--to <cid>", "conversation")
    .option("--id <id>", "id of this send; repeating a send with the same id sends nothing twice (default: random)")
    .option("--x <json>", "custom parameters, a JSON object", parseCustomParameters)
    .addOption(attachmentOption());
  addSendOptions(command)
    .option("--wait <seconds>", waitHelp, parsePositive)
    .addOption(new Option("--stream", streamHelp).conflicts("wait"));
  addSend(command, output, {
    help,
    content: async (body: string | undefined, { to, id = Bun.randomUUIDv7(), ...more }: MessageOptions) => ({
      message: { id, cid: to, ...(await (more.stream ? beginContent(body, more) : readContent(body, more))) },
    }),
    tryOut: (admin, envelope) => admin.tryMessage(envelope),
    send: (admin, envelope, { wait, stream }: MessageOptions): Promise<Sent> =>
      stream
        ? admin.pipe(readPieces(), envelope)
        : admin.sendMessage(envelope, { wait }).catch(tellId(envelope.message.id)),
    show(answer, _body, { wait }: MessageOptions) {
      if ("length" in answer)
        return output.result(printableLine(`stored as ${answer.id}, ${answer.length} characters`));
      const { mid, server_mid, t } = answer.ask;
      output.result(printableLine(`stored as ${server_mid} (mid ${mid}, t ${t})`));
      tellDelivery(answer, wait, output);
    },
  });
}

/** Adds the arguments and options of a message that is sent later. */
export function addMessageOptions(command: Command): Command {
  return addSendOptions(
    command
      .argument("[body]", "text of the message; - reads it from standard input and drops one trailing line break")
      .requiredOption("--from <uid>", "sender, a participant of the conversation")
      .requiredOption("--to <cid>", "conversation")
      .option("--x <json>", "custom parameters, a JSON object", parseCustomParameters)
      .addOption(attachmentOption()),
  );
}

/** The message of these arguments and options. */
export async function messageContentOf(body: string | undefined, { to, ...more }: ContentOptions & { to: string }) {
  return { cid: to, ...(await readContent(body, more)) };
}

/** The content of a message that grows: standard input follows it. */
async function beginContent(body: string | undefined, options: ContentOptions) {
  return { ...(await readContent(body === "-" ? "" : (body ?? ""), options)), open: true as const };
}

/** The content of a message: its text from the arguments or standard input, and what the options add. */
async function readContent(
  body: string | undefined,
  { x, attachment, ...options }: ContentOptions,
): Promise<Omit<MessageEnvelope["message"], "id" | "cid">> {
  const text = body === "-" ? await readStandardInput() : body;
  if (text === undefined && attachment === undefined) {
    throw new CliError(exitCodes.usage, "nothing to send. Give a text, - for standard input, or --attachment.");
  }
  return {
    ...(text === undefined ? {} : { body: text }),
    ...(x === undefined ? {} : { x }),
    ...(attachment === undefined ? {} : { attachments: attachment }),
    ...sendMembersOf(options),
  };
}
