import { type Command, Option } from "commander";
import type { DeliveryItem, RecipientState } from "../../../../sdk/admin.ts";
import type { Output } from "../../output/output.ts";
import { type Column, createTable } from "../../output/table.ts";
import { addList, type InOrganization } from "../../server-commands.ts";
import { recipientStates } from "../recipients.ts";
import { addUserCommand } from "./options.ts";

type Options = InOrganization & { state?: RecipientState };

const columns: Column<DeliveryItem>[] = [
  { title: "SENT", cell: ({ t }) => new Date(t * 1_000).toISOString().replace(".000Z", "Z") },
  { title: "KIND", cell: ({ kind }) => (kind === "message" ? "message" : "system") },
  { title: "STATE", cell: ({ state }) => state },
  { title: "DELIVERED", cell: ({ delivered_at }) => delivered_at ?? "" },
  { title: "READ", cell: ({ read_at }) => read_at ?? "" },
  { title: "FROM", cell: ({ from }) => from, isCutFirst: true },
  { title: "CONVERSATION", cell: ({ cid }) => cid ?? "" },
  { title: "ID", cell: ({ id }) => id },
];

/** `herald users deliveries`. */
export function addDeliveriesCommand(users: Command, output: Output): void {
  const description = "list what was addressed to a user, newest first, and what the user has of it";
  const command = addUserCommand(users, "deliveries", description).addOption(
    new Option("--state <state>", "only what the user has in this state").choices(recipientStates),
  );
  addList(command, output, {
    help: "\nExample:\n  herald users deliveries bob --org demo --state missing",
    list: (admin, uid: string, { org, ...filter }: Options) => ({
      read: (page) => admin.listDeliveries(org, uid, { ...page, ...filter }),
      print: createTable(columns, output).print,
      none:
        filter.state === undefined ? "Nothing was addressed to the user." : `Nothing is in the state ${filter.state}.`,
    }),
  });
}
