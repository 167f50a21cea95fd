import type { Command } from "commander";
import type { DirectoryEntry } from "../../../../sdk/admin.ts";
import type { Output } from "../../output/output.ts";
import { type Column, createTable } from "../../output/table.ts";
import { addAct, addGroup, addList, addOrganizationCommand, type InOrganization } from "../../server-commands.ts";

const columns: Column<DirectoryEntry>[] = [
  { title: "USER", cell: ({ id }) => id },
  { title: "NAME", cell: ({ name }) => name ?? "", isCutFirst: true },
];

/** `herald participants list`, `add` and `remove`. */
export function addParticipantsCommands(program: Command, output: Output): void {
  const group = addGroup(program, "participants", "list, add and remove the participants of a conversation");
  const addOne = (name: string, description: string) =>
    addOrganizationCommand(group, name, description).argument("<cid>", "id of the conversation");

  addList(addOne("list", "list the participants of a conversation, by id"), output, {
    help: "\nExample:\n  herald participants list welcome --org demo",
    list: (admin, cid: string, { org }: InOrganization) => ({
      read: (page) => admin.listParticipants(org, cid, page),
      print: createTable(columns, output).print,
      none: "The conversation has no participants.",
    }),
  });
  const add = addOne("add", "add users to a conversation; open connections follow at once, unknown users are created");
  addAct(add.argument("<uid...>", "ids of the users"), output, "added", {
    help: "\nExample:\n  herald participants add welcome dora emil --org demo",
    json: "print each user as one JSON object on a line",
    act: (admin, uid, { org }: InOrganization, cid: string) => admin.addParticipant(org, cid, uid),
  });
  const remove = addOne("remove", "remove users from a conversation; open connections follow at once");
  addAct(remove.argument("<uid...>", "ids of the users"), output, "removed", {
    help: "\nExample:\n  herald participants remove welcome dora emil --org demo",
    json: "print one JSON object on a line for each user",
    act: (admin, uid, { org }: InOrganization, cid: string) => admin.removeParticipant(org, cid, uid),
  });
}
