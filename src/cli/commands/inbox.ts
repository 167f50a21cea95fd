import type { Command } from "commander";
import type { InboxItem } from "../../../sdk/admin.ts";
import type { Output } from "../output/output.ts";
import { type Column, createTable } from "../output/table.ts";
import { addList, addOrganizationCommand, type InOrganization } from "../server-commands.ts";

type InboxOptions = InOrganization & { user: string; unread?: true };

const columns: Column<InboxItem>[] = [
  { title: "SENT", cell: ({ created_at }) => created_at },
  { title: "FROM", cell: ({ from }) => from },
  { title: "ID", cell: ({ _id }) => _id },
  { title: "STATE", cell: ({ seen_at, read_at }) => (read_at !== null ? "read" : seen_at !== null ? "seen" : "new") },
  { title: "X", cell: ({ x }) => JSON.stringify(x), isCutFirst: true },
];

/** `herald inbox`. */
export function addInboxCommand(program: Command, output: Output): void {
  const command = addOrganizationCommand(
    program,
    "inbox",
    "list the system messages that are kept for a user, newest first",
  )
    .requiredOption("--user <uid>", "user whose inbox it is")
    .option("--unread", "only what the user has not read");
  addList(command, output, {
    help: "\nExample:\n  herald inbox --org demo --user bob --unread",
    list: (admin, { org, user, unread }: InboxOptions) => ({
      read: (page) => admin.listInbox(org, user, { ...page, ...(unread && { unread }) }),
      print: createTable(columns, output).print,
      none: unread ? "Nothing is unread." : "The inbox is empty.",
    }),
  });
}
