import type { Command } from "commander";
import type { CustomParameters } from "../../../../sdk/index.ts";
import { parseCustomParameters, parsePositive, parseUids } from "../../arguments.ts";
import { accessServer, addClientOptions, type ClientOptions } from "../../client-options.ts";
import type { Output } from "../../output/output.ts";
import { printableLine } from "../../output/printable.ts";
import { tellId } from "../../output/tell-id.ts";
import { dryRunHelp, tellDryRun } from "./dry-run.ts";
import { tellDelivery, waitHelp } from "./wait.ts";

type SystemOptions = ClientOptions & {
  org: string;
  from: string;
  to: string[];
  id?: string;
  x?: CustomParameters;
  wait?: number;
  dryRun?: true;
  json?: true;
};

const examples = `
Examples:
  herald send system --org demo --from alice --to bob,carol --x '{"status":"maintenance at 22:00"}'
  herald send system --org demo --from alice --to bob --wait 5
  herald send system --org demo --from alice --to bob --json`;

/** `herald send system`. */
export function addSendSystemCommand(send: Command, output: Output): void {
  const command = send
    .command("system")
    .description("send a system message to users; only users who are online receive it")
    .requiredOption("--org <id>", "organization")
    .requiredOption("--from <uid>", "sender, a user of the organization")
    .requiredOption("--to <uid,uid>", "recipients, separated by commas; may be repeated", parseUids)
    .option("--id <id>", "id of this send; repeating a send with the same id sends nothing twice (default: random)")
    .option("--x <json>", "custom parameters, a JSON object: the content of the message", parseCustomParameters)
    .option("--wait <seconds>", waitHelp, parsePositive)
    .option("--dry-run", dryRunHelp)
    .option("--json", "print the server's response as one JSON object");
  addClientOptions(command)
    .addHelpText("after", examples)
    .action(async ({ org, from, to, x, wait, dryRun, json, ...options }: SystemOptions) => {
      const id = options.id ?? Bun.randomUUIDv7();
      const messageSystem = { id, uids: to, ...(x === undefined ? {} : { x }) };
      const envelope = { organizationId: org, senderId: from, messageSystem };
      const admin = accessServer(options).admin();
      if (dryRun) return tellDryRun(await admin.trySystemMessage(envelope), json, output);
      const answer = await admin.sendSystemMessage(envelope, { wait }).catch(tellId(id));
      if (json) return output.json(answer);
      output.result(printableLine(`stored (mid ${answer.ack.mid}, t ${answer.ack.t})`));
      tellDelivery(answer, wait, output);
    });
}
