import type { Command } from "commander";
import type { User } from "../../../../sdk/admin.ts";
import { accessServer, addClientOptions, type ClientOptions } from "../../client-options.ts";
import { printFields, titleOf } from "../../output/fields.ts";
import type { Output } from "../../output/output.ts";
import { addListOptions, type ListOptions, printList } from "../../output/pages.ts";
import { printableLine } from "../../output/printable.ts";
import { type Column, createTable } from "../../output/table.ts";
import { addYesOption, confirmDeletion } from "./deletion.ts";
import { addOnlineCommand } from "./online.ts";

const columns: Column<User>[] = [
  { title: "USER", cell: ({ id }) => id },
  { title: "NAME", cell: ({ name }) => name ?? "", isCutFirst: true },
  { title: "STATE", cell: ({ blocked }) => (blocked ? "blocked" : "active") },
  { title: "CREATED", cell: ({ created_at }) => created_at },
];

type UserOptions = ClientOptions & { org: string; json?: true };

/** `herald users list`, `get`, `put`, `delete`, `block`, `unblock`, `sign-out` and `online`. */
export function addUsersCommands(program: Command, output: Output): void {
  const users = program
    .command("users")
    .description("list, create, change, block, sign out and delete users, and see who is online")
    .helpCommand(false);
  addList(users, output);
  addGet(users, output);
  addPut(users, output);
  addDelete(users, output);
  addBlock(users, output);
  addUnblock(users, output);
  addSignOut(users, output);
  addOnlineCommand(users, output);
}

function addList(users: Command, output: Output): void {
  const command = users
    .command("list")
    .description("list the users of an organization, by id")
    .requiredOption("--org <id>", "organization")
    .option("--prefix <text>", "only those whose id or name begins with this text, ignoring case");
  addClientOptions(addListOptions(command))
    .addHelpText(
      "after",
      "\nExamples:\n  herald users list --org demo\n  herald users list --org demo --prefix al\n  herald users list --org demo --all --json",
    )
    .action(async (options: ClientOptions & ListOptions & { org: string; prefix?: string }) => {
      const admin = accessServer(options).admin();
      const { print } = createTable(columns, output);
      const none = "The organization has no users yet.";
      await printList(
        (page) =>
          admin.listUsers(options.org, { ...page, ...(options.prefix !== undefined && { prefix: options.prefix }) }),
        {
          options,
          print,
          none,
          output,
        },
      );
    });
}

/** A command about one user: `herald users <name> <uid> --org …`. */
function addUserCommand(users: Command, name: string, description: string): Command {
  return users
    .command(name)
    .description(description)
    .argument("<uid>", "id of the user")
    .requiredOption("--org <id>", "organization of the user");
}

function addGet(users: Command, output: Output): void {
  const command = addUserCommand(users, "get", "show a user").option("--json", "print one JSON object");
  addClientOptions(command)
    .addHelpText("after", "\nExample:\n  herald users get bob --org demo")
    .action(async (uid: string, { org, json, ...access }: UserOptions) => {
      const user = await accessServer(access).admin().getUser(org, uid);
      if (json) return output.json(user);
      const state = user.blocked ? "blocked" : "active";
      printFields(
        titleOf(user),
        [
          ["state", state],
          ["created", user.created_at],
        ],
        output,
      );
    });
}

function addPut(users: Command, output: Output): void {
  const command = addUserCommand(users, "put", "create a user, or change the name; what is not given stays as it is")
    .option("--name <text>", "name")
    .option("--no-name", "remove the name")
    .option("--json", "print the server's response as one JSON object");
  addClientOptions(command)
    .addHelpText(
      "after",
      '\nExamples:\n  herald users put dora --org demo --name "Dora Diaz"\n  herald users put dora --org demo --no-name',
    )
    .action(async (uid: string, { org, name, json, ...access }: UserOptions & { name?: string | false }) => {
      const fields = name === undefined ? {} : { name: name === false ? null : name };
      const user = await accessServer(access).admin().putUser(org, uid, fields);
      if (json) return output.json(user);
      output.result(printableLine(`saved ${titleOf(user)}`));
    });
}

function addDelete(users: Command, output: Output): void {
  const description =
    "delete a user: remove them from all conversations and close their connections; their messages stay, unless erased";
  const command = addYesOption(addUserCommand(users, "delete", description))
    .option("--erase-messages", "also take back every message that they wrote, and forget their name")
    .option("--json", "print one JSON object");
  addClientOptions(command)
    .addHelpText(
      "after",
      "\nIf erasing breaks off, delete the user again: it continues.\n\nExamples:\n  herald users delete dora --org demo\n  herald users delete dora --org demo --erase-messages --yes",
    )
    .action(async (uid: string, options: UserOptions & { yes?: true; eraseMessages?: true }) => {
      const { org, yes, eraseMessages, json, ...access } = options;
      const server = accessServer(access);
      const admin = server.admin();
      const what = eraseMessages ? `user ${uid} of ${org}, and all that they wrote,` : `user ${uid} of ${org}`;
      await confirmDeletion(what, server.url, yes);
      await admin.deleteUser(org, uid, eraseMessages && { messages: "erase" });
      if (json) return output.json({ deleted: uid, ...(eraseMessages && { messages: "erased" }) });
      output.result(printableLine(eraseMessages ? `deleted ${uid}, and erased their messages` : `deleted ${uid}`));
    });
}

function addBlock(users: Command, output: Output): void {
  const description =
    "block a user: close their connections and refuse all their tokens, also future ones, until unblocked";
  const command = addUserCommand(users, "block", description).option("--json", "print the user as one JSON object");
  addClientOptions(command)
    .addHelpText(
      "after",
      "\nA user whom the organization does not have yet is created.\n\nExample:\n  herald users block mallory --org demo",
    )
    .action(async (uid: string, { org, json, ...access }: UserOptions) => {
      const user = await accessServer(access).admin().putUser(org, uid, { blocked: true });
      if (json) return output.json(user);
      output.result(printableLine(`blocked ${uid}`));
    });
}

function addUnblock(users: Command, output: Output): void {
  const command = addUserCommand(users, "unblock", "let a blocked user connect again, with the same tokens").option(
    "--json",
    "print the user as one JSON object",
  );
  addClientOptions(command)
    .addHelpText("after", "\nExample:\n  herald users unblock mallory --org demo")
    .action(async (uid: string, { org, json, ...access }: UserOptions) => {
      const user = await accessServer(access).admin().putUser(org, uid, { blocked: false });
      if (json) return output.json(user);
      output.result(printableLine(`unblocked ${uid}`));
    });
}

function addSignOut(users: Command, output: Output): void {
  const description =
    "close a user's connections on all nodes and refuse all tokens issued until now; a new token works";
  const command = addUserCommand(users, "sign-out", description).option("--json", "print one JSON object");
  addClientOptions(command)
    .addHelpText("after", "\nExample:\n  herald users sign-out bob --org demo")
    .action(async (uid: string, { org, json, ...access }: UserOptions) => {
      await accessServer(access).admin().endSessions(org, uid);
      if (json) return output.json({ signed_out: uid });
      output.result(printableLine(`signed out ${uid}`));
    });
}
