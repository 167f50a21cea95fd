import type { Command } from "commander";
import type { CustomParameters, SystemMessageAddress } from "../../../../sdk/admin.ts";
import { parseCustomParameters, parsePositive, parseUids } from "../../arguments.ts";
import { CliError, exitCodes } from "../../exit-codes.ts";
import type { Output } from "../../output/output.ts";
import { printableLine } from "../../output/printable.ts";
import { tellId } from "../../output/tell-id.ts";
import { addCall, type InOrganization } from "../../server-commands.ts";
import { dryRunHelp, tellDryRun } from "./dry-run.ts";
import { tellDelivery, waitHelp } from "./wait.ts";

type Recipients = { to?: string[]; toConversation?: string; everyone?: true };

type SystemOptions = InOrganization &
  Recipients & { from: string; id?: string; x?: CustomParameters; wait?: number; dryRun?: true };

const help = `
Examples:
  herald send system --org demo --from alice --to bob,carol --x '{"status":"maintenance at 22:00"}'
  herald send system --org demo --from alice --to-conversation welcome --x '{"kind":"renamed"}' --wait 5
  herald send system --org demo --from alice --everyone --x '{"status":"back at 23:00"}' --dry-run`;

/** `herald send system`. */
export function addSendSystemCommand(send: Command, output: Output): void {
  const command = send
    .command("system")
    .description(
      "send a system message to users, to a conversation or to everyone; only users who are online receive it",
    )
    .requiredOption("--org <id>", "organization")
    .requiredOption("--from <uid>", "sender, a user of the organization")
    .option("--to <uid,uid>", "recipients, separated by commas; may be repeated", parseUids)
    .option("--to-conversation <cid>", "conversation whose participants receive it, the sender among them")
    .option("--everyone", "send it to all users of the organization")
    .option("--id <id>", "id of this send; repeating a send with the same id sends nothing twice (default: random)")
    .option("--x <json>", "custom parameters, a JSON object: the content of the message", parseCustomParameters)
    .option("--wait <seconds>", waitHelp, parsePositive)
    .option("--dry-run", dryRunHelp);
  addCall(command, output, {
    help,
    json: "print the server's response as one JSON object",
    async call({ admin }, { org, from, x, wait, dryRun, ...options }: SystemOptions) {
      const { id = Bun.randomUUIDv7() } = options;
      const messageSystem = { id, ...(x !== undefined && { x }), ...addressOf(options) };
      const envelope = { organizationId: org, senderId: from, messageSystem };
      if (dryRun) return await admin().trySystemMessage(envelope);
      return await admin().sendSystemMessage(envelope, { wait }).catch(tellId(id));
    },
    show(answer, { wait }: SystemOptions) {
      if ("dry_run" in answer) return tellDryRun(answer, output);
      output.result(printableLine(`stored (mid ${answer.ack.mid}, t ${answer.ack.t})`));
      tellDelivery(answer, wait, output);
    },
  });
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
