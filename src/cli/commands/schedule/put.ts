import type { Command } from "commander";
import type {
  AttachmentInput,
  CustomParameters,
  MessageEnvelope,
  SystemMessageEnvelope,
} from "../../../../sdk/admin.ts";
import { attachmentOption, parseAhead, parseCustomParameters, parseUids } from "../../arguments.ts";
import type { Output } from "../../output/output.ts";
import { printableLine } from "../../output/printable.ts";
import { tellId } from "../../output/tell-id.ts";
import { addCall, addOrganizationCommand, type InOrganization } from "../../server-commands.ts";
import { dryRunHelp, tellDryRun } from "../send/dry-run.ts";
import { readContent } from "../send/message.ts";

type PutOptions = InOrganization & { at: string; id?: string; dryRun?: true };
type SendOptions<To> = InOrganization & { from: string; to: To; x?: CustomParameters };
type MessageOptions = SendOptions<string> & { attachment?: AttachmentInput[] };

const messageExamples = `
Examples:
  herald schedule message --org demo --at 2027-01-01T09:00:00+01:00 --from alice --to welcome "Happy new year"
  herald schedule message --org demo --at "in 10m" --from alice --to welcome --id reminder-4711 "Your parcel is waiting."`;
const systemExamples = `
Examples:
  herald schedule system --org demo --at 30s --from alice --to bob,carol --x '{"status":"maintenance now"}'
  herald schedule system --org demo --at 2h --from alice --to bob --dry-run`;

/** A command that schedules a send, with the options that both have before those of the send. */
function addScheduleCommand(schedule: Command, name: string, description: string): Command {
  return addOrganizationCommand(schedule, name, description)
    .requiredOption(
      "--at <when>",
      "when to send it: a time, or a duration from now, such as 30s, 10m, 2h or 7d",
      parseAhead,
    )
    .option("--id <id>", "id of the scheduled send; the same id again replaces it while it waits (default: random)");
}

/** `herald schedule message`. */
export function addScheduleMessage(schedule: Command, output: Output): void {
  const command = addScheduleCommand(schedule, "message", "send a message to a conversation later")
    .argument("[body]", "text of the message; - reads it from standard input and drops one trailing line break")
    .requiredOption("--from <uid>", "sender, a participant of the conversation")
    .requiredOption("--to <cid>", "conversation")
    .option("--x <json>", "custom parameters, a JSON object", parseCustomParameters)
    .addOption(attachmentOption());
  addPut(command, output, {
    help: messageExamples,
    async requestOf(body: string | undefined, { org, from, to, ...content }: MessageOptions) {
      const message = { cid: to, ...(await readContent(body, content)) };
      return { organizationId: org, senderId: from, message };
    },
  });
}

/** `herald schedule system`. */
export function addScheduleSystem(schedule: Command, output: Output): void {
  const description = "send a system message to users later; only users who are online then receive it";
  const command = addScheduleCommand(schedule, "system", description)
    .requiredOption("--from <uid>", "sender, a user of the organization")
    .requiredOption("--to <uid,uid>", "recipients, separated by commas; may be repeated", parseUids)
    .option("--x <json>", "custom parameters, a JSON object: the content of the message", parseCustomParameters);
  addPut(command, output, {
    help: systemExamples,
    async requestOf({ org, from, to, x }: SendOptions<string[]>) {
      const messageSystem = { uids: to, ...(x !== undefined && { x }) };
      return { organizationId: org, senderId: from, messageSystem };
    },
  });
}

type Put = { help: string; requestOf(...args: unknown[]): Promise<MessageEnvelope | SystemMessageEnvelope> };

/** Completes a command that schedules a send. */
function addPut(command: Command, output: Output, { help, requestOf }: Put): void {
  addCall(command.option("--dry-run", dryRunHelp), output, {
    help,
    json: "print the server's response as one JSON object",
    async call({ admin }, ...args) {
      const { org, at, dryRun, id = Bun.randomUUIDv7() } = command.opts<PutOptions>();
      const order = { send_at: at, request: await requestOf(...args) };
      if (dryRun) return await admin().trySchedule(org, id, order);
      return await admin().schedule(org, id, order).catch(tellId(id));
    },
    show(answer) {
      if ("dry_run" in answer) tellDryRun(answer, output);
      else output.result(printableLine(`scheduled as ${answer.id} for ${answer.send_at}`));
    },
  });
}
