import type { Command } from "commander";
import type { User } from "../../../../sdk/admin.ts";
import { confirmDeletion } from "../../access/prompt.ts";
import { printFields, titleOf } from "../../output/fields.ts";
import type { Output } from "../../output/output.ts";
import { type Column, createTable } from "../../output/table.ts";
import {
  addAct,
  addCall,
  addGroup,
  addList,
  addOrganizationCommand,
  type InOrganization,
} from "../../server-commands.ts";
import { addConnectionCommands } from "./connections.ts";
import { addDeliveriesCommand } from "./deliveries.ts";
import { addOnlineCommand } from "./online.ts";
import {
  addNameOptions,
  addPrefixOption,
  addUserCommand,
  addYesOption,
  type NameOptions,
  nameField,
} from "./options.ts";

const stateOf = ({ blocked }: User) => (blocked ? "blocked" : "active");

const columns: Column<User>[] = [
  { title: "USER", cell: ({ id }) => id },
  { title: "NAME", cell: ({ name }) => name ?? "", isCutFirst: true },
  { title: "STATE", cell: stateOf },
  { title: "CREATED", cell: ({ created_at }) => created_at },
];

/** `herald users list`, `get`, `put`, `delete`, `block`, `unblock`, `sign-out`, `online`, `connections`, `disconnect` and `deliveries`. */
export function addUsersCommands(program: Command, output: Output): void {
  const description = "list, create, change, block, sign out and delete users, and see who is online";
  const users = addGroup(program, "users", description);

  addList(addPrefixOption(addOrganizationCommand(users, "list", "list the users of an organization, by id")), output, {
    help: "\nExamples:\n  herald users list --org demo\n  herald users list --org demo --prefix al\n  herald users list --org demo --all --json",
    list: (admin, { org, ...filter }: InOrganization & { prefix?: string }) => ({
      read: (page) => admin.listUsers(org, { ...page, ...filter }),
      print: createTable(columns, output).print,
      none: "The organization has no users yet.",
    }),
  });
  addCall(addUserCommand(users, "get", "show a user"), output, {
    help: "\nExample:\n  herald users get bob --org demo",
    call: ({ admin }, uid: string, { org }: InOrganization) => admin().getUser(org, uid),
    show(user) {
      const fields = [["state", stateOf(user)] as const, ["created", user.created_at] as const];
      printFields(titleOf(user), fields, output);
    },
  });
  const put = "create a user, or change the name; what is not given stays as it is";
  addCall(addNameOptions(addUserCommand(users, "put", put)), output, {
    help: '\nExamples:\n  herald users put dora --org demo --name "Dora Diaz"\n  herald users put dora --org demo --no-name',
    json: "print the server's response as one JSON object",
    call: ({ admin }, uid: string, { org, ...options }: InOrganization & NameOptions) =>
      admin().putUser(org, uid, nameField(options)),
    done: (user) => `saved ${titleOf(user)}`,
  });
  addDelete(users, output);
  const block = "block a user: close their connections and refuse all their tokens, also future ones, until unblocked";
  addAct(addUserCommand(users, "block", block), output, "blocked", {
    help: "\nA user whom the organization does not have yet is created.\n\nExample:\n  herald users block mallory --org demo",
    json: "print the user as one JSON object",
    act: (admin, uid, { org }: InOrganization) => admin.putUser(org, uid, { blocked: true }),
  });
  const unblock = "let a blocked user connect again, with the same tokens";
  addAct(addUserCommand(users, "unblock", unblock), output, "unblocked", {
    help: "\nExample:\n  herald users unblock mallory --org demo",
    json: "print the user as one JSON object",
    act: (admin, uid, { org }: InOrganization) => admin.putUser(org, uid, { blocked: false }),
  });
  const signOut = "close a user's connections on all nodes and refuse all tokens issued until now; a new token works";
  addAct(addUserCommand(users, "sign-out", signOut), output, "signed_out", {
    help: "\nExample:\n  herald users sign-out bob --org demo",
    act: (admin, uid, { org }: InOrganization) => admin.endSessions(org, uid),
  });
  addOnlineCommand(users, output);
  addConnectionCommands(users, output);
  addDeliveriesCommand(users, output);
}

function addDelete(users: Command, output: Output): void {
  const description =
    "delete a user: remove them from all conversations and close their connections; their messages stay, unless erased";
  const command = addYesOption(addUserCommand(users, "delete", description)).option(
    "--erase-messages",
    "also take back every message that they wrote, and forget their name",
  );
  addCall(command, output, {
    help: "\nIf erasing breaks off, delete the user again: it continues.\n\nExamples:\n  herald users delete dora --org demo\n  herald users delete dora --org demo --erase-messages --yes",
    async call({ admin, url }, uid: string, options: InOrganization & { yes?: true; eraseMessages?: true }) {
      const { org, eraseMessages } = options;
      const client = admin();
      const what = eraseMessages ? `user ${uid} of ${org}, and all that they wrote,` : `user ${uid} of ${org}`;
      await confirmDeletion(what, url, options);
      await client.deleteUser(org, uid, eraseMessages && { messages: "erase" });
      return { deleted: uid, ...(eraseMessages && { messages: "erased" }) };
    },
    done: ({ messages }, uid: string) => (messages ? `deleted ${uid}, and erased their messages` : `deleted ${uid}`),
  });
}
