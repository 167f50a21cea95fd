import { type Command, Option } from "commander";
import type { Recipient, RecipientState } from "../../../sdk/admin.ts";
import type { Output } from "../output/output.ts";
import { type Column, createTable } from "../output/table.ts";
import { addGroup, addList, addOrganizationCommand, type InOrganization } from "../server-commands.ts";

type RecipientOptions = InOrganization & { state?: RecipientState };

const columns: Column<Recipient>[] = [
  { title: "USER", cell: ({ uid }) => uid, isCutFirst: true },
  { title: "STATE", cell: ({ state }) => state },
  { title: "DELIVERED", cell: ({ delivered_at }) => delivered_at ?? "" },
  { title: "ACKNOWLEDGED", cell: ({ acknowledged_at }) => acknowledged_at ?? "" },
];

/** What is known about a recipient. */
export const recipientStates: RecipientState[] = ["delivered", "acknowledged", "missing"];

/** `herald recipients message` and `herald recipients system`. */
export function addRecipientsCommands(program: Command, output: Output): void {
  const description = "list who a message or system message was addressed to, and who has it";
  const recipients = addGroup(program, "recipients", description);
  const addOne = (name: string, description: string) =>
    addOrganizationCommand(recipients, name, description).addOption(
      new Option("--state <state>", "only recipients in this state").choices(recipientStates),
    );
  const printed = ({ state }: RecipientOptions) => ({
    print: createTable(columns, output).print,
    none: state === undefined ? "It has no recipients." : `No recipient is in the state ${state}.`,
  });

  const message = addOne("message", "list the recipients of a message, by id").argument(
    "<server_mid>",
    "id that the server assigned to the message",
  );
  addList(message, output, {
    help: "\nExample:\n  herald recipients message --org demo 01a1f910-573b-7e5f-8a9b-0c1d2e3f4a5b --state missing",
    list: (admin, id: string, { org, ...filter }: RecipientOptions) => ({
      read: (page) => admin.listRecipients(org, id, { ...page, ...filter }),
      ...printed({ org, ...filter }),
    }),
  });
  const system = addOne("system", "list the recipients of a system message, in the order of the send").argument(
    "<mid>",
    "id of the system message",
  );
  addList(system, output, {
    help: "\nExample:\n  herald recipients system --org demo payment-0815 --all",
    list: (admin, id: string, { org, from, ...filter }: RecipientOptions & { from?: string }) => ({
      read: (page) =>
        admin.listSystemRecipients(org, id, { ...page, ...filter, ...(from !== undefined && { senderId: from }) }),
      ...printed({ org, ...filter }),
    }),
  });
  system.option("--from <uid>", "sender, required if several senders used the same id");
}
