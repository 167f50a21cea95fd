import type { Command } from "commander";
import type { Delivery } from "../../../sdk/admin.ts";
import { accessServer, addClientOptions, type ClientOptions } from "../client-options.ts";
import type { Output } from "../output/output.ts";
import { printableLine } from "../output/printable.ts";

type ReportOptions = ClientOptions & { org: string; from?: string; json?: true };

/** `herald report message` and `herald report system`. */
export function addReportCommands(program: Command, output: Output): void {
  const report = program
    .command("report")
    .description("show the delivery report of a message or system message")
    .helpCommand(false);

  addOptions(report.command("message"))
    .description("show the delivery report of a message")
    .argument("<server_mid>", "id that the server assigned to the message")
    .addHelpText("after", "\nExample:\n  herald report message --org demo 01a1f910-573b-7e5f-8a9b-0c1d2e3f4a5b")
    .action(async (id: string, { org, json, ...access }: ReportOptions) => {
      const answer = await accessServer(access).admin().getMessage(org, id);
      if (json) return output.json(answer);
      const { _id, from, cid, created_at, edited_at } = answer.message;
      const head = printableLine(`${created_at}  ${_id}  ${from} to ${cid}`);
      output.result(output.resultStyle.bold(head));
      const { acknowledged_before_edit: beforeEdit, acknowledged_before_recall: beforeRecall } = answer.delivery;
      for (const line of figures(answer.delivery)) output.result(line);
      if (edited_at !== undefined) output.result(`  edited ${edited_at}; ${beforeEdit} had acknowledged it before`);
      if (answer.recalled_at !== undefined)
        output.result(`  taken back ${answer.recalled_at}; ${beforeRecall} had acknowledged it before`);
    });

  addOptions(report.command("system"))
    .description("show the delivery report of a system message; if it was sent to listed users, for each of them")
    .argument("<mid>", "id of the system message")
    .option("--from <uid>", "sender, required if several senders used the same id")
    .addHelpText(
      "after",
      "\nExamples:\n  herald report system --org demo payment-0815\n  herald report system --org demo payment-0815 --json",
    )
    .action(async (id: string, { org, from: senderId, json, ...access }: ReportOptions) => {
      const options = senderId === undefined ? {} : { senderId };
      const answer = await accessServer(access).admin().getSystemMessage(org, id, options);
      if (json) return output.json(answer);
      const { _id, from } = answer.system_message;
      output.result(output.resultStyle.bold(printableLine(`${_id}  from ${from}`)));
      for (const line of figures(answer.delivery)) output.result(line);
      for (const [uid, fate] of Object.entries(answer.delivery.by_user ?? {}))
        output.result(printableLine(`  ${fate.padEnd("delivered".length)}  ${uid}`));
    });
}

function addOptions(command: Command): Command {
  command.requiredOption("--org <id>", "organization").option("--json", "print the report as one JSON object");
  return addClientOptions(command);
}

function figures(delivery: Delivery): string[] {
  const { delivered_users: users, delivered_connections: connections, recipients } = delivery;
  const { first_delivered_at: first, last_delivered_at: last } = delivery;
  const times = first === null ? [] : [`  first ${first}, last ${last}`];
  return [
    `  delivered to ${users} of ${recipients} users, on ${connections} connections`,
    `  acknowledged by ${delivery.acknowledged_users}`,
    ...times,
  ];
}
