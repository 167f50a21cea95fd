import type { Command } from "commander";
import type { DirectoryEntry, Message } from "../../../../sdk/admin.ts";
import { parseUids } from "../../arguments.ts";
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
import { addNameOptions, addPrefixOption, addYesOption, type NameOptions, nameField } from "./options.ts";

const columns: Column<DirectoryEntry>[] = [
  { title: "CONVERSATION", cell: ({ id }) => id },
  { title: "NAME", cell: ({ name }) => name ?? "", isCutFirst: true },
  { title: "CREATED", cell: ({ created_at }) => created_at },
];

const messageColumns: Column<Message>[] = [
  { title: "TIME", cell: ({ created_at }) => created_at },
  { title: "ID", cell: ({ _id }) => _id },
  { title: "FROM", cell: ({ from }) => from },
  { title: "TEXT", cell: ({ body }) => body, isCutFirst: true },
];

type PutOptions = InOrganization & NameOptions & { participants?: string[] | false };

/** `herald conversations list`, `get`, `put`, `delete` and `messages`. */
export function addConversationsCommands(program: Command, output: Output): void {
  const group = "list, create, change and delete conversations, and read their messages";
  const conversations = addGroup(program, "conversations", group);
  const addOne = (name: string, description: string) =>
    addOrganizationCommand(conversations, name, description).argument("<cid>", "id of the conversation");

  const list = addOrganizationCommand(conversations, "list", "list the conversations of an organization, by id");
  addList(addPrefixOption(list), output, {
    help: "\nExamples:\n  herald conversations list --org demo\n  herald conversations list --org demo --prefix we",
    list: (admin, { org, ...filter }: InOrganization & { prefix?: string }) => ({
      read: (page) => admin.listConversations(org, { ...page, ...filter }),
      print: createTable(columns, output).print,
      none: "The organization has no conversations yet.",
    }),
  });
  addCall(addOne("get", "show a conversation"), output, {
    help: "\nExample:\n  herald conversations get welcome --org demo",
    call: ({ admin }, cid: string, { org }: InOrganization) => admin().getConversation(org, cid),
    show: (answer) => printFields(titleOf(answer), [["created", answer.created_at]], output),
  });
  const put = addNameOptions(
    addOne("put", "create a conversation, or change its name and participants; what is not given stays as it is"),
  )
    .option(
      "--participants <uid,uid>",
      "the whole set of participants; others are removed, unknown users are created; may be repeated",
      parseUids,
    )
    .option("--no-participants", "remove all participants");
  addCall(put, output, {
    help: "\nExamples:\n  herald conversations put orders --org demo --name Orders --participants alice,bob\n  herald conversations put orders --org demo --no-name",
    json: "print the server's response as one JSON object",
    call: ({ admin }, cid: string, { org, participants, ...options }: PutOptions) =>
      admin().putConversation(org, cid, {
        ...nameField(options),
        ...(participants !== undefined && { participants: participants === false ? [] : participants }),
      }),
    done: (answer) => `saved ${titleOf(answer)}`,
  });
  const deletion = "delete a conversation with its history; its participants stop receiving its messages at once";
  addAct(addYesOption(addOne("delete", deletion)), output, "deleted", {
    help: "\nExample:\n  herald conversations delete orders --org demo",
    toConfirm: (cid, { org }: InOrganization) => `conversation ${cid} of ${org} with its history`,
    act: (admin, cid, { org }: InOrganization) => admin.deleteConversation(org, cid),
  });
  const messages = addOne(
    "messages",
    "read the messages of a conversation, newest first; the key needs the scope history:read",
  )
    .option("--before <id>", "only messages older than this one (its _id)")
    .option("--after <id>", "only messages newer than this one (its _id), oldest first");
  addList(messages, output, {
    help: "\nExamples:\n  herald conversations messages welcome --org demo --limit 20\n  herald conversations messages welcome --org demo --all --json > welcome.ndjson",
    list: (admin, cid: string, { org, ...filter }: InOrganization & { before?: string; after?: string }) => ({
      read: (page) => admin.listMessages(org, cid, { ...page, ...filter }),
      print: createTable(messageColumns, output).print,
      none: "There are no messages.",
    }),
  });
}
