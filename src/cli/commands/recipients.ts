import { type Command, Option } from "commander";
import type { Page, PageOptions, Recipient, RecipientState } from "../../../sdk/admin.ts";
import { accessServer, addClientOptions, type ClientOptions } from "../client-options.ts";
import type { Output } from "../output/output.ts";
import { addListOptions, type ListOptions, printList } from "../output/pages.ts";
import { type Column, createTable } from "../output/table.ts";

type RecipientOptions = ClientOptions & ListOptions & { org: string; from?: string; state?: RecipientState };

const columns: Column<Recipient>[] = [
  { title: "USER", cell: ({ uid }) => uid, isCutFirst: true },
  { title: "STATE", cell: ({ state }) => state },
  { title: "DELIVERED", cell: ({ delivered_at }) => delivered_at ?? "" },
  { title: "ACKNOWLEDGED", cell: ({ acknowledged_at }) => acknowledged_at ?? "" },
];

/** `herald recipients message` and `herald recipients system`. */
export function addRecipientsCommands(program: Command, output: Output): void {
  const recipients = program
    .command("recipients")
    .description("list who a message or system message was addressed to, and who has it")
    .helpCommand(false);

  addOptions(recipients.command("message"))
    .description("list the recipients of a message, by id")
    .argument("<server_mid>", "id that the server assigned to the message")
    .addHelpText(
      "after",
      "\nExample:\n  herald recipients message --org demo 01a1f910-573b-7e5f-8a9b-0c1d2e3f4a5b --state missing",
    )
    .action(async (id: string, options: RecipientOptions) => {
      const admin = accessServer(options).admin();
      await printRecipients((page) => admin.listRecipients(options.org, id, page), options, output);
    });

  addOptions(recipients.command("system"))
    .description("list the recipients of a system message, in the order of the send")
    .argument("<mid>", "id of the system message")
    .option("--from <uid>", "sender, required if several senders used the same id")
    .addHelpText("after", "\nExample:\n  herald recipients system --org demo payment-0815 --all")
    .action(async (id: string, options: RecipientOptions) => {
      const { org, from: senderId } = options;
      const sender = senderId === undefined ? {} : { senderId };
      const admin = accessServer(options).admin();
      await printRecipients((page) => admin.listSystemRecipients(org, id, { ...page, ...sender }), options, output);
    });
}

function addOptions(command: Command): Command {
  const states: RecipientState[] = ["delivered", "acknowledged", "missing"];
  command
    .requiredOption("--org <id>", "organization")
    .addOption(new Option("--state <state>", "only recipients in this state").choices(states));
  return addClientOptions(addListOptions(command));
}

async function printRecipients(
  read: (page: PageOptions & { state?: RecipientState }) => Promise<Page<Recipient>>,
  options: RecipientOptions,
  output: Output,
): Promise<void> {
  const { state } = options;
  const { print } = createTable(columns, output);
  const none = state === undefined ? "It has no recipients." : `No recipient is in the state ${state}.`;
  await printList((page) => read({ ...page, ...(state !== undefined && { state }) }), { options, print, none, output });
}
