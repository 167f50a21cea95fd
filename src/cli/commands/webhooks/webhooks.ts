import { type Command, InvalidArgumentError, Option } from "commander";
import type { WebhookEndpoint, WebhookEvent, WebhookSettings } from "../../../../sdk/admin.ts";
import { webhookEvents } from "../../../contract/webhooks/events.ts";
import { parsePositive } from "../../arguments.ts";
import { printFields } from "../../output/fields.ts";
import type { Output } from "../../output/output.ts";
import { printableLine } from "../../output/printable.ts";
import { type Column, createTable } from "../../output/table.ts";
import {
  addAct,
  addCall,
  addGroup,
  addList,
  addOrganizationCommand,
  type InOrganization,
} from "../../server-commands.ts";
import { addDeliveryCommands } from "./deliveries.ts";

type PutOptions = InOrganization & {
  post: string;
  event?: WebhookEvent[];
  wait?: number;
  until?: NonNullable<WebhookSettings["until"]>;
};

const columns: Column<WebhookEndpoint>[] = [
  { title: "ID", cell: ({ id }) => id },
  { title: "STATE", cell: stateOf },
  { title: "WAIT", cell: ({ wait_seconds }) => `${wait_seconds} s` },
  { title: "UNTIL", cell: ({ until }) => until },
  { title: "URL", cell: ({ url }) => url, isCutFirst: true },
];
const events: readonly WebhookEvent[] = webhookEvents;
const list = `${events.slice(0, -1).join(", ")} or ${events.at(-1)}`;

/** `herald webhooks put`, `list`, `get`, `delete`, `rotate`, `test`, `deliveries` and `redeliver`. */
export function addWebhookCommands(program: Command, output: Output): void {
  const webhooks = addGroup(
    program,
    "webhooks",
    "webhooks for who was not reached and other events, and their deliveries",
  );
  const addOne = (name: string, description: string) =>
    addOrganizationCommand(webhooks, name, description).argument(
      "<id>",
      "id of the webhook, from `herald webhooks list`",
    );

  addPut(webhooks, output);
  addList(addOrganizationCommand(webhooks, "list", "list the webhooks of an organization"), output, {
    help: "\nExample:\n  herald webhooks list --org demo",
    list: (admin, { org }: InOrganization) => ({
      read: (page) => admin.listWebhooks(org, page),
      print: createTable(columns, output).print,
      none: "There are no webhooks.",
    }),
  });
  addCall(addOne("get", "show a webhook, without its secret"), output, {
    help: "\nExample:\n  herald webhooks get push --org demo",
    call: ({ admin }, id: string, { org }: InOrganization) => admin().getWebhook(org, id),
    show(webhook, id: string) {
      const { url, events: posted, wait_seconds, until, created_at, disabled_at, failing } = webhook;
      const fields = [
        ["url", url],
        ["state", stateOf(webhook)],
        ["events", posted.join(", ")],
        ["wait", `${wait_seconds} s`],
        ["until", until],
        ["created", created_at],
        ["switched off", disabled_at],
        ["failing since", failing?.since],
        ["last failure", failing && `${failing.error}, at ${failing.at}`],
      ] as const;
      printFields(id, fields, output);
    },
  });
  addAct(addOne("delete", "delete a webhook with its deliveries"), output, "deleted", {
    help: "\nExample:\n  herald webhooks delete push --org demo",
    act: (admin, id, { org }: InOrganization) => admin.deleteWebhook(org, id),
  });
  addCall(addOne("rotate", "give a webhook a new secret; for a day, both sign"), output, {
    help: "\nExample:\n  herald webhooks rotate push --org demo",
    call: ({ admin }, id: string, { org }: InOrganization) => admin().rotateWebhook(org, id),
    show: ({ secret }, id: string) =>
      tellSecret(secret, `${id} has a new secret, and the old one signs for another 24 h`, output),
  });
  addDeliveryCommands(webhooks, output);
}

function addPut(webhooks: Command, output: Output): void {
  const description = "create or change a webhook, and switch it on; its secret is shown only when it is created";
  const command = addOrganizationCommand(webhooks, "put", description)
    .argument("<id>", "id of the webhook")
    .requiredOption("--post <url>", "where to post: an https URL of a public address")
    .option("--event <event>", `what to post: ${list}; may be repeated (default: the first two)`, parseEvent)
    .option("--wait <seconds>", "how long after a send to look who was not reached (default: 10)", parsePositive)
    .addOption(new Option("--until <state>", "when a user counts as reached").choices(["delivered", "acknowledged"]));
  addCall(command, output, {
    help: "\nExamples:\n  herald webhooks put push --org demo --post https://push.example.org/herald\n  herald webhooks put push --org demo --post https://push.example.org/herald --wait 30 --until acknowledged\n  herald webhooks put ops --org demo --post https://ops.example.org/herald --event scheduled.failed --event message.undeliverable",
    json: "print the server's response as one JSON object",
    call: ({ admin }, id: string, { org, post, event, wait, ...settings }: PutOptions) =>
      admin().putWebhook(org, id, {
        url: post,
        ...(event !== undefined && { events: event }),
        ...(wait !== undefined && { wait_seconds: wait }),
        ...settings,
      }),
    show({ secret }, id: string) {
      if (secret !== undefined) tellSecret(secret, `created ${id}`, output);
      else output.result(printableLine(`changed ${id}`));
    },
  });
}

/** The state, which is `failing` while nothing but the last try tells of a fault. */
function stateOf({ state, failing }: WebhookEndpoint): string {
  return state === "active" && failing !== null ? "failing" : state;
}

/** Only the secret goes to stdout, so that a script can store it. */
function tellSecret(secret: string, what: string, output: Output): void {
  output.result(secret);
  output.note(output.noteStyle.dim(printableLine(`${what}; save the secret now, it is not shown again`)));
}

function parseEvent(text: string, before: WebhookEvent[] = []): WebhookEvent[] {
  const event = events.find((one) => one === text);
  if (event === undefined) throw new InvalidArgumentError(`It must be ${list}.`);
  return [...before, event];
}
