import type { Command } from "commander";
import type { UserConnection, UserConnections } from "../../../../sdk/admin.ts";
import type { Output } from "../../output/output.ts";
import { type Column, createTable } from "../../output/table.ts";
import { addAct, addCall, type InOrganization } from "../../server-commands.ts";
import { addUserCommand } from "./options.ts";

const columns: Column<UserConnection>[] = [
  { title: "CONNECTION", cell: ({ connection_id }) => connection_id },
  { title: "SINCE", cell: ({ since }) => since },
  { title: "NODE", cell: ({ node }) => node },
  { title: "TRANSPORT", cell: ({ transport }) => transport },
  { title: "ADDRESS", cell: ({ address }) => address },
  { title: "DEVICE", cell: ({ device_id }) => device_id ?? "" },
  { title: "WAITING", cell: ({ waiting_bytes }) => `${waiting_bytes} bytes` },
  { title: "CLIENT", cell: ({ client }) => client ?? "", isCutFirst: true },
];

function codeOf({ code, was_slow }: NonNullable<UserConnections["last_ended"]>): string {
  if (was_slow) return " (too slow, or hung up)";
  return code == null ? "" : ` (close code ${code})`;
}

/** `herald users connections` and `disconnect`. */
export function addConnectionCommands(users: Command, output: Output): void {
  addCall(addUserCommand(users, "connections", "list where a user is connected now, on all nodes"), output, {
    help: "\nExample:\n  herald users connections bob --org demo",
    call: ({ admin }, uid: string, { org }: InOrganization) => admin().listConnections(org, uid),
    show({ items, last_ended: ended, last_refused: refused }, uid: string) {
      if (items.length > 0) createTable(columns, output).print(items);
      else output.note(`${uid} is offline${ended === null ? "" : ` since ${ended.at}${codeOf(ended)}`}.`);
      if (refused !== null) output.note(`A token was refused at ${refused.at}: ${refused.check}.`);
    },
  });
  const disconnect = "close one connection of a user; the client reconnects, and receives what it missed";
  const command = addUserCommand(users, "disconnect", disconnect).argument("<connection>", "id of the connection");
  addAct(command, output, "closed", {
    help: "\nTo keep a client out, revoke its token, or sign the user out.\n\nExample:\n  herald users disconnect bob 01a1fb4a-6a00-7000-8000-000000000003 --org demo",
    act: (admin, connection, { org }: InOrganization, uid) => admin.closeConnection(org, String(uid), connection),
  });
}
