import { type Command, Option } from "commander";
import type { WebhookDelivery, WebhookDeliveryState } from "../../../../sdk/admin.ts";
import { accessServer, addClientOptions, type ClientOptions } from "../../client-options.ts";
import { CliError, exitCodes } from "../../exit-codes.ts";
import { printFields } from "../../output/fields.ts";
import type { Output } from "../../output/output.ts";
import { addListOptions, type ListOptions, printList } from "../../output/pages.ts";
import { type Column, createTable } from "../../output/table.ts";

type InOrganization = ClientOptions & { org: string; json?: true };
type DeliveriesOptions = ClientOptions & ListOptions & { org: string; state?: WebhookDeliveryState };

const columns: Column<WebhookDelivery>[] = [
  { title: "ID", cell: ({ id }) => id },
  { title: "CREATED", cell: ({ created_at }) => created_at },
  { title: "STATE", cell: ({ state }) => state },
  { title: "TRIES", cell: ({ tries }) => String(tries) },
  { title: "LAST ANSWER", cell: answerOf, isCutFirst: true },
];
const states: WebhookDeliveryState[] = ["waiting", "delivered", "failed", "cancelled"];

/** `herald webhooks test`. */
export function addTest(webhooks: Command, output: Output): void {
  const command = webhooks
    .command("test")
    .description("post a test to a webhook, and show what its receiver answers")
    .argument("<id>", "id of the webhook")
    .requiredOption("--org <id>", "organization")
    .option("--json", "print one JSON object");
  addClientOptions(command)
    .addHelpText("after", "\nExample:\n  herald webhooks test push --org demo")
    .action(async (id: string, { org, json, ...access }: InOrganization) => {
      const delivery = await accessServer(access).admin().testWebhook(org, id);
      if (json) output.json(delivery);
      else printDelivery(delivery, output);
      if (delivery.state !== "delivered")
        throw new CliError(exitCodes.failed, "the receiver did not accept the test; see its answer above, and its log");
    });
}

/** `herald webhooks deliveries`. */
export function addDeliveries(webhooks: Command, output: Output): void {
  const command = webhooks
    .command("deliveries")
    .description("list what was posted to a webhook, or will be, newest first")
    .argument("<id>", "id of the webhook")
    .requiredOption("--org <id>", "organization")
    .addOption(new Option("--state <state>", "only those in this state").choices(states).argParser(String));
  addClientOptions(addListOptions(command))
    .addHelpText(
      "after",
      "\nExamples:\n  herald webhooks deliveries push --org demo\n  herald webhooks deliveries push --org demo --state failed --json",
    )
    .action(async (id: string, { org, state, ...options }: DeliveriesOptions) => {
      const admin = accessServer(options).admin();
      const { print } = createTable(columns, output);
      const none = state === undefined ? "Nothing was posted yet." : `No delivery is ${state}.`;
      const readPage: Parameters<typeof printList<WebhookDelivery>>[0] = (page) =>
        admin.listWebhookDeliveries(org, id, { ...page, ...(state !== undefined && { state }) });
      await printList(readPage, { options, print, none, output });
    });
}

/** `herald webhooks redeliver`. */
export function addRedeliver(webhooks: Command, output: Output): void {
  const command = webhooks
    .command("redeliver")
    .description("post a delivery again, with the same webhook-id")
    .argument("<id>", "id of the webhook")
    .argument("<delivery>", "id of the delivery, from `herald webhooks deliveries`")
    .requiredOption("--org <id>", "organization")
    .option("--json", "print one JSON object");
  addClientOptions(command)
    .addHelpText(
      "after",
      "\nExample:\n  herald webhooks redeliver push 01a1f90e-0c4d-7a52-b3c6-5d1f2e3a4b5c --org demo",
    )
    .action(async (id: string, delivery: string, { org, json, ...access }: InOrganization) => {
      const again = await accessServer(access).admin().redeliverWebhook(org, id, delivery);
      if (json) return output.json(again);
      printDelivery(again, output);
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
