import type { Command } from "commander";
import type { DirectoryEntry } from "../../../../sdk/admin.ts";
import { accessServer, addClientOptions, type ClientOptions } from "../../client-options.ts";
import type { Output } from "../../output/output.ts";
import { addListOptions, type ListOptions, printList } from "../../output/pages.ts";
import { printableLine } from "../../output/printable.ts";
import { type Column, createTable } from "../../output/table.ts";

const columns: Column<DirectoryEntry>[] = [
  { title: "USER", cell: ({ id }) => id },
  { title: "NAME", cell: ({ name }) => name ?? "", isCutFirst: true },
];

type ParticipantOptions = ClientOptions & { org: string; json?: true };

/** `herald participants list`, `add` and `remove`. */
export function addParticipantsCommands(program: Command, output: Output): void {
  const participants = program
    .command("participants")
    .description("list, add and remove the participants of a conversation")
    .helpCommand(false);
  addList(participants, output);
  addAdd(participants, output);
  addRemove(participants, output);
}

/** A command about one conversation: `herald participants <name> <cid> … --org …`. */
function addParticipantCommand(participants: Command, name: string, description: string): Command {
  return participants
    .command(name)
    .description(description)
    .argument("<cid>", "id of the conversation")
    .requiredOption("--org <id>", "organization");
}

function addList(participants: Command, output: Output): void {
  const command = addParticipantCommand(participants, "list", "list the participants of a conversation, by id");
  addClientOptions(addListOptions(command))
    .addHelpText("after", "\nExample:\n  herald participants list welcome --org demo")
    .action(async (cid: string, options: ClientOptions & ListOptions & { org: string }) => {
      const admin = accessServer(options).admin();
      const { print } = createTable(columns, output);
      const none = "The conversation has no participants.";
      await printList((page) => admin.listParticipants(options.org, cid, page), { options, print, none, output });
    });
}

function addAdd(participants: Command, output: Output): void {
  const description = "add users to a conversation; open connections follow at once, unknown users are created";
  const command = addParticipantCommand(participants, "add", description)
    .argument("<uid...>", "ids of the users")
    .option("--json", "print each user as one JSON object on a line");
  addClientOptions(command)
    .addHelpText("after", "\nExample:\n  herald participants add welcome dora emil --org demo")
    .action(async (cid: string, uids: string[], { org, json, ...access }: ParticipantOptions) => {
      const admin = accessServer(access).admin();
      for (const uid of uids) {
        const user = await admin.addParticipant(org, cid, uid);
        if (json) output.json(user);
        else output.result(printableLine(`added ${uid}`));
      }
    });
}

function addRemove(participants: Command, output: Output): void {
  const description = "remove users from a conversation; open connections follow at once";
  const command = addParticipantCommand(participants, "remove", description)
    .argument("<uid...>", "ids of the users")
    .option("--json", "print one JSON object on a line for each user");
  addClientOptions(command)
    .addHelpText("after", "\nExample:\n  herald participants remove welcome dora emil --org demo")
    .action(async (cid: string, uids: string[], { org, json, ...access }: ParticipantOptions) => {
      const admin = accessServer(access).admin();
      for (const uid of uids) {
        await admin.removeParticipant(org, cid, uid);
        if (json) output.json({ removed: uid });
        else output.result(printableLine(`removed ${uid}`));
      }
    });
}
