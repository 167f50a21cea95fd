import { type Command, Option } from "commander";
import type { WebhookDelivery, WebhookDeliveryState } from "../../../../sdk/admin.ts";
import { accessServer, addClientOptions, type ClientOptions } from "../../client-options.ts";
import { CliError, exitCodes } from "../../exit-codes.ts";
import { printFields } from "../../output/fields.ts";
import type { Output } from "../../output/output.ts";
import { type Column, createTable } from "../../output/table.ts";
import { addCall, addList, addOrganizationCommand, type InOrganization } from "../../server-commands.ts";

type TestOptions = ClientOptions & InOrganization & { json?: true };

const columns: Column<WebhookDelivery>[] = [
  { title: "ID", cell: ({ id }) => id },
  { title: "CREATED", cell: ({ created_at }) => created_at },
  { title: "STATE", cell: ({ state }) => state },
  { title: "TRIES", cell: ({ tries }) => String(tries) },
  { title: "LAST ANSWER", cell: answerOf, isCutFirst: true },
];
const states: WebhookDeliveryState[] = ["waiting", "delivered", "failed", "cancelled"];

/** `herald webhooks test`, `deliveries` and `redeliver`. */
export function addDeliveryCommands(webhooks: Command, output: Output): void {
  const addOne = (name: string, description: string) =>
    addOrganizationCommand(webhooks, name, description).argument("<id>", "id of the webhook");

  const test = addOne("test", "post a test to a webhook, and show what its receiver answers");
  addClientOptions(test.option("--json", "print one JSON object"))
    .addHelpText("after", "\nExample:\n  herald webhooks test push --org demo")
    .action(async (id: string, { org, json, ...access }: TestOptions) => {
      const delivery = await accessServer(access).admin().testWebhook(org, id);
      if (json) output.json(delivery);
      else printDelivery(delivery, output);
      if (delivery.state !== "delivered")
        throw new CliError(exitCodes.failed, "the receiver did not accept the test; see its answer above, and its log");
    });
  const deliveries = addOne("deliveries", "list what was posted to a webhook, or will be, newest first").addOption(
    new Option("--state <state>", "only those in this state").choices(states).argParser(String),
  );
  addList(deliveries, output, {
    help: "\nExamples:\n  herald webhooks deliveries push --org demo\n  herald webhooks deliveries push --org demo --state failed --json",
    list: (admin, id: string, { org, ...filter }: InOrganization & { state?: WebhookDeliveryState }) => ({
      read: (page) => admin.listWebhookDeliveries(org, id, { ...page, ...filter }),
      print: createTable(columns, output).print,
      none: filter.state === undefined ? "Nothing was posted yet." : `No delivery is ${filter.state}.`,
    }),
  });
  const redeliver = addOne("redeliver", "post a delivery again, with the same webhook-id").argument(
    "<delivery>",
    "id of the delivery, from `herald webhooks deliveries`",
  );
  addCall(redeliver, output, {
    help: "\nExample:\n  herald webhooks redeliver push 01a1f90e-0c4d-7a52-b3c6-5d1f2e3a4b5c --org demo",
    call: ({ admin }, id: string, delivery: string, { org }: InOrganization) =>
      admin().redeliverWebhook(org, id, delivery),
    show: (delivery) => printDelivery(delivery, output),
  });
}

function printDelivery(delivery: WebhookDelivery, output: Output): void {
  const { id, state, tries, next_try_at, last_try } = delivery;
  const fields = [
    ["state", state],
    ["tries", String(tries)],
    ["last answer", answerOf(delivery)],
    ["took", last_try === null ? null : `${last_try.duration_ms} ms`],
    ["next try", next_try_at],
  ] as const;
  printFields(id, fields, output);
}

/** What the receiver answered last, or why it did not. */
function answerOf({ last_try }: WebhookDelivery): string {
  if (last_try === null) return "";
  const { status, error, answer } = last_try;
  return [error ?? String(status ?? ""), answer].filter((part) => part !== null && part !== "").join(": ");
}
