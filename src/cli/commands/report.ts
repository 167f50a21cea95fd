import type { Command } from "commander";
import type { Delivery } from "../../../sdk/admin.ts";
import type { Output } from "../output/output.ts";
import { printableLine } from "../output/printable.ts";
import { addCall, addGroup, addOrganizationCommand, type InOrganization } from "../server-commands.ts";

/** `herald report message` and `herald report system`. */
export function addReportCommands(program: Command, output: Output): void {
  const report = addGroup(program, "report", "show the delivery report of a message or system message");
  const json = "print the report as one JSON object";

  const message = addOrganizationCommand(report, "message", "show the delivery report of a message");
  addCall(message.argument("<server_mid>", "id that the server assigned to the message"), output, {
    help: "\nExample:\n  herald report message --org demo 01a1f910-573b-7e5f-8a9b-0c1d2e3f4a5b",
    json,
    call: ({ admin }, id: string, { org }: InOrganization) => admin().getMessage(org, id),
    show({ message, delivery, recalled_at, expired_at }) {
      const { _id, from, cid, created_at, edited_at } = message;
      const { acknowledged_before_edit: beforeEdit } = delivery;
      output.result(output.resultStyle.bold(printableLine(`${created_at}  ${_id}  ${from} to ${cid}`)));
      for (const line of figures(delivery)) output.result(line);
      if (edited_at !== undefined) output.result(`  edited ${edited_at}; ${beforeEdit} had acknowledged it before`);
      for (const line of endOf({ recalled_at, expired_at }, delivery)) output.result(line);
    },
  });
  const description = "show the delivery report of a system message; if it was sent to listed users, for each of them";
  const system = addOrganizationCommand(report, "system", description).argument("<mid>", "id of the system message");
  addCall(system, output, {
    help: "\nExamples:\n  herald report system --org demo payment-0815\n  herald report system --org demo payment-0815 --json",
    json,
    call: ({ admin }, id: string, { org, from: senderId }: InOrganization & { from?: string }) =>
      admin().getSystemMessage(org, id, senderId === undefined ? {} : { senderId }),
    show({ system_message: { _id, from }, delivery, superseded_by, ...ends }) {
      output.result(output.resultStyle.bold(printableLine(`${_id}  from ${from}`)));
      for (const line of [...figures(delivery), ...endOf(ends, delivery)]) output.result(line);
      if (superseded_by !== undefined) output.result(printableLine(`  replaced by ${superseded_by}`));
      for (const [uid, fate] of Object.entries(delivery.by_user ?? {}))
        output.result(printableLine(`  ${fate.padEnd("delivered".length)}  ${uid}`));
    },
  });
  system.option("--from <uid>", "sender, required if several senders used the same id");
}

type Ends = { recalled_at?: string | undefined; expired_at?: string | undefined };

function endOf({ recalled_at, expired_at }: Ends, delivery: { acknowledged_before_recall?: number }): string[] {
  if (expired_at !== undefined) return [`  expired ${expired_at}`];
  if (recalled_at === undefined) return [];
  return [`  taken back ${recalled_at}; ${delivery.acknowledged_before_recall} had acknowledged it before`];
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
