import type { Command } from "commander";
import type { AdminClient, DirectoryEntry } from "../../../../sdk/admin.ts";
import { accessServer, addClientOptions, type ClientOptions } from "../../client-options.ts";
import type { Output } from "../../output/output.ts";
import { printableLine } from "../../output/printable.ts";
import { type Column, createTable } from "../../output/table.ts";
import { addGroup, addList, addOrganizationCommand, type InOrganization } from "../../server-commands.ts";

const columns: Column<DirectoryEntry>[] = [
  { title: "USER", cell: ({ id }) => id },
  { title: "NAME", cell: ({ name }) => name ?? "", isCutFirst: true },
];

type ParticipantOptions = ClientOptions & InOrganization & { json?: true };

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
  const add = addOne("add", "add users to a conversation; open connections follow at once, unknown users are created")
    .argument("<uid...>", "ids of the users")
    .option("--json", "print each user as one JSON object on a line");
  addForEach(add, output, (admin, org, cid, uid) => admin.addParticipant(org, cid, uid), "added");
  const remove = addOne("remove", "remove users from a conversation; open connections follow at once")
    .argument("<uid...>", "ids of the users")
    .option("--json", "print one JSON object on a line for each user");
  const removeOne = async (admin: AdminClient, org: string, cid: string, uid: string) => {
    await admin.removeParticipant(org, cid, uid);
    return { removed: uid };
  };
  addForEach(remove, output, removeOne, "removed");
}

/** Completes a command that changes participants one by one. */
function addForEach(
  command: Command,
  output: Output,
  change: (admin: AdminClient, org: string, cid: string, uid: string) => Promise<unknown>,
  done: string,
): void {
  addClientOptions(command)
    .addHelpText("after", `\nExample:\n  herald participants ${command.name()} welcome dora emil --org demo`)
    .action(async (cid: string, uids: string[], { org, json, ...access }: ParticipantOptions) => {
      const admin = accessServer(access).admin();
      for (const uid of uids) {
        const answer = await change(admin, org, cid, uid);
        if (json) output.json(answer);
        else output.result(printableLine(`${done} ${uid}`));
      }
    });
}
