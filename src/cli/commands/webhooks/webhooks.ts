import { type Command, InvalidArgumentError, Option } from "commander";
import type { UnreachedEvent, WebhookEndpoint, WebhookSettings } from "../../../../sdk/admin.ts";
import { parsePositive } from "../../arguments.ts";
import { accessServer, addClientOptions, type ClientOptions } from "../../client-options.ts";
import { printFields } from "../../output/fields.ts";
import type { Output } from "../../output/output.ts";
import { addListOptions, type ListOptions, printList } from "../../output/pages.ts";
import { printableLine } from "../../output/printable.ts";
import { type Column, createTable } from "../../output/table.ts";
import { addDeliveries, addRedeliver, addTest } from "./deliveries.ts";

type InOrganization = ClientOptions & { org: string; json?: true };
type PutOptions = InOrganization & {
  post: string;
  event?: UnreachedEvent[];
  wait?: number;
  until?: NonNullable<WebhookSettings["until"]>;
};

const columns: Column<WebhookEndpoint>[] = [
  { title: "ID", cell: ({ id }) => id },
  { title: "STATE", cell: ({ state }) => state },
  { title: "WAIT", cell: ({ wait_seconds }) => `${wait_seconds} s` },
  { title: "UNTIL", cell: ({ until }) => until },
  { title: "URL", cell: ({ url }) => url, isCutFirst: true },
];
const events: UnreachedEvent[] = ["message.unreached", "system_message.unreached"];

/** `herald webhooks put`, `list`, `get`, `delete`, `rotate`, `test`, `deliveries` and `redeliver`. */
export function addWebhookCommands(program: Command, output: Output): void {
  const webhooks = program
    .command("webhooks")
    .description("webhooks for who was not reached, and their deliveries")
    .helpCommand(false);
  addPut(webhooks, output);
  addList(webhooks, output);
  addGet(webhooks, output);
  addDelete(webhooks, output);
  addRotate(webhooks, output);
  addTest(webhooks, output);
  addDeliveries(webhooks, output);
  addRedeliver(webhooks, output);
}

function addPut(webhooks: Command, output: Output): void {
  const command = webhooks
    .command("put")
    .description("create or change a webhook, and switch it on; its secret is shown only when it is created")
    .argument("<id>", "id of the webhook")
    .requiredOption("--org <id>", "organization")
    .requiredOption("--post <url>", "where to post: an https URL of a public address")
    .option("--event <event>", `what to post: ${events.join(" or ")}; may be repeated (default: both)`, parseEvent)
    .option("--wait <seconds>", "how long after a send to look who was not reached (default: 10)", parsePositive)
    .addOption(new Option("--until <state>", "when a user counts as reached").choices(["delivered", "acknowledged"]))
    .option("--json", "print the server's response as one JSON object");
  addClientOptions(command)
    .addHelpText(
      "after",
      "\nExamples:\n  herald webhooks put push --org demo --post https://push.example.org/herald\n  herald webhooks put push --org demo --post https://push.example.org/herald --wait 30 --until acknowledged",
    )
    .action(async (id: string, { org, post, event, wait, until, json, ...access }: PutOptions) => {
      const settings = {
        url: post,
        ...(event !== undefined && { events: event }),
        ...(wait !== undefined && { wait_seconds: wait }),
        ...(until !== undefined && { until }),
      };
      const made = await accessServer(access).admin().putWebhook(org, id, settings);
      if (json) return output.json(made);
      if (made.secret !== undefined) return tellSecret(made.secret, `created ${id}`, output);
      output.result(printableLine(`changed ${id}`));
    });
}

function addList(webhooks: Command, output: Output): void {
  const command = webhooks
    .command("list")
    .description("list the webhooks of an organization")
    .requiredOption("--org <id>", "organization");
  addClientOptions(addListOptions(command))
    .addHelpText("after", "\nExample:\n  herald webhooks list --org demo")
    .action(async ({ org, ...options }: ClientOptions & ListOptions & { org: string }) => {
      const admin = accessServer(options).admin();
      const { print } = createTable(columns, output);
      const none = "There are no webhooks.";
      await printList((page) => admin.listWebhooks(org, page), { options, print, none, output });
    });
}

function addGet(webhooks: Command, output: Output): void {
  addOne(webhooks.command("get").description("show a webhook, without its secret"))
    .addHelpText("after", "\nExample:\n  herald webhooks get push --org demo")
    .action(async (id: string, { org, json, ...access }: InOrganization) => {
      const webhook = await accessServer(access).admin().getWebhook(org, id);
      if (json) return output.json(webhook);
      const { url, state, wait_seconds, until, created_at, disabled_at } = webhook;
      const fields = [
        ["url", url],
        ["state", state],
        ["events", webhook.events.join(", ")],
        ["wait", `${wait_seconds} s`],
        ["until", until],
        ["created", created_at],
        ["switched off", disabled_at],
      ] as const;
      printFields(id, fields, output);
    });
}

function addDelete(webhooks: Command, output: Output): void {
  addOne(webhooks.command("delete").description("delete a webhook with its deliveries"))
    .addHelpText("after", "\nExample:\n  herald webhooks delete push --org demo")
    .action(async (id: string, { org, json, ...access }: InOrganization) => {
      await accessServer(access).admin().deleteWebhook(org, id);
      if (json) return output.json({ deleted: id });
      output.result(printableLine(`deleted ${id}`));
    });
}

function addRotate(webhooks: Command, output: Output): void {
  addOne(webhooks.command("rotate").description("give a webhook a new secret; for a day, both sign"))
    .addHelpText("after", "\nExample:\n  herald webhooks rotate push --org demo")
    .action(async (id: string, { org, json, ...access }: InOrganization) => {
      const made = await accessServer(access).admin().rotateWebhook(org, id);
      if (json) return output.json(made);
      tellSecret(made.secret, `${id} has a new secret, and the old one signs for another 24 h`, output);
    });
}

/** Adds what each command about one webhook has. */
function addOne(command: Command): Command {
  return addClientOptions(
    command
      .argument("<id>", "id of the webhook, from `herald webhooks list`")
      .requiredOption("--org <id>", "organization")
      .option("--json", "print one JSON object"),
  );
}

/** Only the secret goes to stdout, so that a script can store it. */
function tellSecret(secret: string, what: string, output: Output): void {
  output.result(secret);
  output.note(output.noteStyle.dim(printableLine(`${what}; save the secret now, it is not shown again`)));
}

function parseEvent(text: string, before: UnreachedEvent[] = []): UnreachedEvent[] {
  const event = events.find((one) => one === text);
  if (event === undefined) throw new InvalidArgumentError(`It must be ${events.join(" or ")}.`);
  return [...before, event];
}
