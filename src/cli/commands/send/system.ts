import type { Command } from "commander";
import type { CustomParameters, SystemMessageAddress } from "../../../../sdk/admin.ts";
import { parseCustomParameters, parsePositive, parseUids } from "../../arguments.ts";
import { tellId } from "../../errors/advised-error.ts";
import { CliError, exitCodes } from "../../exit-codes.ts";
import type { Output } from "../../output/output.ts";
import { printableLine } from "../../output/printable.ts";
import { addOrganizationCommand } from "../../server-commands.ts";
import { addSend, addSendOptions, type SendOptions, sendMembersOf, tellDelivery, waitHelp } from "./send-command.ts";

type Recipients = { to?: string[]; toConversation?: string; everyone?: true };

/** What is sent to whom. */
export type SystemOptions = Recipients & SendOptions & { x?: CustomParameters; keepDays?: number; keepKey?: string };
type NowOptions = SystemOptions & { id?: string; wait?: number };

const help = `
Examples:
  herald send system --org demo --from alice --to bob,carol --x '{"status":"maintenance at 22:00"}'
  herald send system --org demo --from alice --to-conversation welcome --x '{"kind":"renamed"}' --wait 5
  herald send system --org demo --from alice --to bob --keep-days 30 --x '{"kind":"payment_received"}'
  herald send system --org demo --from alice --everyone --x '{"status":"back at 23:00"}' --dry-run`;

/** `herald send system`. */
export function addSendSystemCommand(send: Command, output: Output): void {
  const description =
    "send a system message to users, to a conversation or to everyone; without --keep-days, only who is online receives it";
  const command = addOrganizationCommand(send, "system", description)
    .requiredOption("--from <uid>", "sender, a user of the organization")
    .option("--id <id>", "id of this send; repeating a send with the same id sends nothing twice (default: random)");
  addSystemOptions(command).option("--wait <seconds>", waitHelp, parsePositive);
  addSend(command, output, {
    help,
    content: ({ id = Bun.randomUUIDv7(), ...options }: NowOptions) => ({
      messageSystem: { id, ...systemContentOf(options) },
    }),
    tryOut: (admin, envelope) => admin.trySystemMessage(envelope),
    send: (admin, envelope, { wait }: NowOptions) =>
      admin.sendSystemMessage(envelope, { wait }).catch(tellId(envelope.messageSystem.id)),
    show(answer, { wait }: NowOptions) {
      output.result(printableLine(`stored (mid ${answer.ack.mid}, t ${answer.ack.t})`));
      tellDelivery(answer, wait, output);
    },
  });
}

/** Adds the options that say what is sent to whom. */
export function addSystemOptions(command: Command): Command {
  command
    .option("--to <uid,uid>", "recipients, separated by commas; may be repeated", parseUids)
    .option("--to-conversation <cid>", "conversation whose participants receive it, the sender among them")
    .option("--everyone", "send it to all users of the organization")
    .option("--x <json>", "custom parameters, a JSON object: the content of the message", parseCustomParameters)
    .option("--keep-days <days>", "keep it in the inboxes of its recipients for so many days (1 to 365)", parsePositive)
    .option("--keep-key <key>", "with --keep-days: it replaces earlier ones of the sender with this key");
  return addSendOptions(command);
}

/** What is sent for these options, and to whom. */
export function systemContentOf({ x, keepDays, keepKey, ...options }: SystemOptions) {
  return {
    ...(x !== undefined && { x }),
    ...(keepDays !== undefined && { keep_days: keepDays }),
    ...(keepKey !== undefined && { key: keepKey }),
    ...sendMembersOf(options),
    ...addressOf(options),
  };
}

function addressOf({ to, toConversation, everyone }: Recipients): SystemMessageAddress {
  const given: SystemMessageAddress[] = [
    ...(to === undefined ? [] : [{ uids: to }]),
    ...(toConversation === undefined ? [] : [{ cid: toConversation }]),
    ...(everyone === undefined ? [] : [{ everyone }]),
  ];
  const [address, another] = given;
  if (address !== undefined && another === undefined) return address;
  const fault = address === undefined ? "no recipients" : "too many kinds of recipients";
  throw new CliError(exitCodes.usage, `${fault}. Give one of --to, --to-conversation and --everyone.`);
}
