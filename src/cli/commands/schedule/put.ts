import type { Command } from "commander";
import type { MessageEnvelope, SystemMessageEnvelope } from "../../../../sdk/admin.ts";
import { parseAhead } from "../../arguments.ts";
import { tellId } from "../../errors/advised-error.ts";
import type { Output } from "../../output/output.ts";
import { printableLine } from "../../output/printable.ts";
import { addOrganizationCommand, type InOrganization } from "../../server-commands.ts";
import { addMessageOptions, messageContentOf } from "../send/message.ts";
import { addSend } from "../send/send-command.ts";
import { addSystemOptions, type SystemOptions, systemContentOf } from "../send/system.ts";

type PutOptions = InOrganization & { at: string; id?: string };

const messageExamples = `
Examples:
  herald schedule message --org demo --at 2027-01-01T09:00:00+01:00 --from alice --to welcome "Happy new year"
  herald schedule message --org demo --at "in 10m" --from alice --to welcome --id reminder-4711 "Your parcel is waiting."`;
const systemExamples = `
Examples:
  herald schedule system --org demo --at 30s --from alice --to bob,carol --x '{"status":"maintenance now"}'
  herald schedule system --org demo --at 2h --from alice --everyone --keep-days 7 --x '{"news":"version 2"}'
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
  const command = addScheduleCommand(schedule, "message", "send a message to a conversation later");
  addPut(addMessageOptions(command), output, {
    help: messageExamples,
    content: async (...given: Parameters<typeof messageContentOf>) => ({ message: await messageContentOf(...given) }),
  });
}

/** `herald schedule system`. */
export function addScheduleSystem(schedule: Command, output: Output): void {
  const description =
    "send a system message to users, to a conversation or to everyone later; without --keep-days, only who is online then receives it";
  const command = addScheduleCommand(schedule, "system", description).requiredOption(
    "--from <uid>",
    "sender, a user of the organization",
  );
  addPut(addSystemOptions(command), output, {
    help: systemExamples,
    content: (options: SystemOptions) => ({ messageSystem: systemContentOf(options) }),
  });
}

type Content = Pick<MessageEnvelope, "message"> | Pick<SystemMessageEnvelope, "messageSystem">;
type Put = { help: string; content(...args: unknown[]): Content | Promise<Content> };

/** Completes a command that schedules a send. */
function addPut(command: Command, output: Output, put: Put): void {
  addSend(command, output, {
    ...put,
    tryOut: (admin, request, { org, at, id = Bun.randomUUIDv7() }: PutOptions) =>
      admin.trySchedule(org, id, { send_at: at, request }),
    send: (admin, request, { org, at, id = Bun.randomUUIDv7() }: PutOptions) =>
      admin.schedule(org, id, { send_at: at, request }).catch(tellId(id)),
    show: ({ id, send_at }) => output.result(printableLine(`scheduled as ${id} for ${send_at}`)),
  });
}
