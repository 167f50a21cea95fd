import type { Command } from "commander";
import type {
  AttachmentInput,
  CustomParameters,
  MessageEnvelope,
  SystemMessageEnvelope,
} from "../../../../sdk/admin.ts";
import { attachmentOption, parseAhead, parseCustomParameters, parseUids } from "../../arguments.ts";
import { accessServer, addClientOptions, type ClientOptions } from "../../client-options.ts";
import type { Output } from "../../output/output.ts";
import { printableLine } from "../../output/printable.ts";
import { tellId } from "../../output/tell-id.ts";
import { dryRunHelp, tellDryRun } from "../send/dry-run.ts";
import { readContent } from "../send/message.ts";

type PutOptions = ClientOptions & { org: string; at: string; from: string; id?: string; dryRun?: true; json?: true };
type MessageOptions = PutOptions & { to: string; x?: CustomParameters; attachment?: AttachmentInput[] };
type SystemOptions = PutOptions & { to: string[]; x?: CustomParameters };

const messageExamples = `
Examples:
  herald schedule message --org demo --at 2027-01-01T09:00:00+01:00 --from alice --to welcome "Happy new year"
  herald schedule message --org demo --at "in 10m" --from alice --to welcome --id reminder-4711 "Your parcel is waiting."`;
const systemExamples = `
Examples:
  herald schedule system --org demo --at 30s --from alice --to bob,carol --x '{"status":"maintenance now"}'
  herald schedule system --org demo --at 2h --from alice --to bob --dry-run`;

/** The options that both commands have before those of the send. */
function addPutOptions(command: Command): Command {
  return command
    .requiredOption("--org <id>", "organization")
    .requiredOption(
      "--at <when>",
      "when to send it: a time, or a duration from now, such as 30s, 10m, 2h or 7d",
      parseAhead,
    )
    .option("--id <id>", "id of the scheduled send; the same id again replaces it while it waits (default: random)");
}

/** `herald schedule message`. */
export function addScheduleMessage(schedule: Command, output: Output): void {
  const command = addPutOptions(
    schedule
      .command("message")
      .description("send a message to a conversation later")
      .argument("[body]", "text of the message; - reads it from standard input and drops one trailing line break"),
  )
    .requiredOption("--from <uid>", "sender, a participant of the conversation")
    .requiredOption("--to <cid>", "conversation")
    .option("--x <json>", "custom parameters, a JSON object", parseCustomParameters)
    .addOption(attachmentOption())
    .option("--dry-run", dryRunHelp)
    .option("--json", "print the server's response as one JSON object");
  addClientOptions(command)
    .addHelpText("after", messageExamples)
    .action(async (body: string | undefined, { from, to, x, attachment, ...options }: MessageOptions) => {
      const message = { cid: to, ...(await readContent(body, { x, attachment })) };
      await put({ organizationId: options.org, senderId: from, message }, options, output);
    });
}

/** `herald schedule system`. */
export function addScheduleSystem(schedule: Command, output: Output): void {
  const command = addPutOptions(
    schedule
      .command("system")
      .description("send a system message to users later; only users who are online then receive it"),
  )
    .requiredOption("--from <uid>", "sender, a user of the organization")
    .requiredOption("--to <uid,uid>", "recipients, separated by commas; may be repeated", parseUids)
    .option("--x <json>", "custom parameters, a JSON object: the content of the message", parseCustomParameters)
    .option("--dry-run", dryRunHelp)
    .option("--json", "print the server's response as one JSON object");
  addClientOptions(command)
    .addHelpText("after", systemExamples)
    .action(async ({ from, to, x, ...options }: SystemOptions) => {
      const messageSystem = { uids: to, ...(x === undefined ? {} : { x }) };
      await put({ organizationId: options.org, senderId: from, messageSystem }, options, output);
    });
}

async function put(
  request: MessageEnvelope | SystemMessageEnvelope,
  { org, at, dryRun, json, ...options }: Omit<PutOptions, "from">,
  output: Output,
): Promise<void> {
  const id = options.id ?? Bun.randomUUIDv7();
  const order = { send_at: at, request };
  const admin = accessServer(options).admin();
  if (dryRun) return tellDryRun(await admin.trySchedule(org, id, order), json, output);
  const scheduled = await admin.schedule(org, id, order).catch(tellId(id));
  if (json) return output.json(scheduled);
  output.result(printableLine(`scheduled as ${id} for ${scheduled.send_at}`));
}
