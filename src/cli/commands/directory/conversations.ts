import type { Command } from "commander";
import type { DirectoryEntry, Message } from "../../../../sdk/admin.ts";
import { parseUids } from "../../arguments.ts";
import { accessServer, addClientOptions, type ClientOptions } from "../../client-options.ts";
import { printFields, titleOf } from "../../output/fields.ts";
import type { Output } from "../../output/output.ts";
import { addListOptions, type ListOptions, printList } from "../../output/pages.ts";
import { printableLine } from "../../output/printable.ts";
import { type Column, createTable } from "../../output/table.ts";
import { addYesOption, confirmDeletion } from "./deletion.ts";

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

type ConversationOptions = ClientOptions & { org: string; json?: true };

/** `herald conversations list`, `get`, `put`, `delete` and `messages`. */
export function addConversationsCommands(program: Command, output: Output): void {
  const conversations = program
    .command("conversations")
    .description("list, create, change and delete conversations, and read their messages")
    .helpCommand(false);
  addList(conversations, output);
  addGet(conversations, output);
  addPut(conversations, output);
  addDelete(conversations, output);
  addMessages(conversations, output);
}

function addList(conversations: Command, output: Output): void {
  const command = conversations
    .command("list")
    .description("list the conversations of an organization, by id")
    .requiredOption("--org <id>", "organization")
    .option("--prefix <text>", "only those whose id or name begins with this text, ignoring case");
  addClientOptions(addListOptions(command))
    .addHelpText(
      "after",
      "\nExamples:\n  herald conversations list --org demo\n  herald conversations list --org demo --prefix we",
    )
    .action(async (options: ClientOptions & ListOptions & { org: string; prefix?: string }) => {
      const admin = accessServer(options).admin();
      const { print } = createTable(columns, output);
      const none = "The organization has no conversations yet.";
      await printList(
        (page) =>
          admin.listConversations(options.org, {
            ...page,
            ...(options.prefix !== undefined && { prefix: options.prefix }),
          }),
        {
          options,
          print,
          none,
          output,
        },
      );
    });
}

/** A command about one conversation: `herald conversations <name> <cid> --org …`. */
function addConversationCommand(conversations: Command, name: string, description: string): Command {
  return conversations
    .command(name)
    .description(description)
    .argument("<cid>", "id of the conversation")
    .requiredOption("--org <id>", "organization");
}

function addGet(conversations: Command, output: Output): void {
  const command = addConversationCommand(conversations, "get", "show a conversation");
  addClientOptions(command.option("--json", "print one JSON object"))
    .addHelpText("after", "\nExample:\n  herald conversations get welcome --org demo")
    .action(async (cid: string, { org, json, ...access }: ConversationOptions) => {
      const conversation = await accessServer(access).admin().getConversation(org, cid);
      if (json) return output.json(conversation);
      printFields(titleOf(conversation), [["created", conversation.created_at]], output);
    });
}

type PutOptions = ConversationOptions & { name?: string | false; participants?: string[] | false };

function addPut(conversations: Command, output: Output): void {
  const description = "create a conversation, or change its name and participants; what is not given stays as it is";
  const command = addConversationCommand(conversations, "put", description)
    .option("--name <text>", "name")
    .option("--no-name", "remove the name")
    .option(
      "--participants <uid,uid>",
      "the whole set of participants; others are removed, unknown users are created; may be repeated",
      parseUids,
    )
    .option("--no-participants", "remove all participants")
    .option("--json", "print the server's response as one JSON object");
  addClientOptions(command)
    .addHelpText(
      "after",
      "\nExamples:\n  herald conversations put orders --org demo --name Orders --participants alice,bob\n  herald conversations put orders --org demo --no-name",
    )
    .action(async (cid: string, { org, name, participants, json, ...access }: PutOptions) => {
      const fields = {
        ...(name !== undefined && { name: name === false ? null : name }),
        ...(participants !== undefined && { participants: participants === false ? [] : participants }),
      };
      const answer = await accessServer(access).admin().putConversation(org, cid, fields);
      if (json) return output.json(answer);
      output.result(printableLine(`saved ${titleOf(answer)}`));
    });
}

function addDelete(conversations: Command, output: Output): void {
  const description = "delete a conversation with its history; its participants stop receiving its messages at once";
  const command = addYesOption(addConversationCommand(conversations, "delete", description));
  addClientOptions(command.option("--json", "print one JSON object"))
    .addHelpText("after", "\nExample:\n  herald conversations delete orders --org demo")
    .action(async (cid: string, { org, yes, json, ...access }: ConversationOptions & { yes?: true }) => {
      const server = accessServer(access);
      const admin = server.admin();
      await confirmDeletion(`conversation ${cid} of ${org} with its history`, server.url, yes);
      await admin.deleteConversation(org, cid);
      if (json) return output.json({ deleted: cid });
      output.result(printableLine(`deleted ${cid}`));
    });
}

type MessagesOptions = ClientOptions & ListOptions & { org: string; before?: string; after?: string };

function addMessages(conversations: Command, output: Output): void {
  const description = "read the messages of a conversation, newest first; the key needs the scope history:read";
  const command = addConversationCommand(conversations, "messages", description)
    .option("--before <id>", "only messages older than this one (its _id)")
    .option("--after <id>", "only messages newer than this one (its _id), oldest first");
  addClientOptions(addListOptions(command))
    .addHelpText(
      "after",
      "\nExamples:\n  herald conversations messages welcome --org demo --limit 20\n  herald conversations messages welcome --org demo --all --json > welcome.ndjson",
    )
    .action(async (cid: string, options: MessagesOptions) => {
      const { org, before, after } = options;
      const admin = accessServer(options).admin();
      const filter = { ...(before !== undefined && { before }), ...(after !== undefined && { after }) };
      const { print } = createTable(messageColumns, output);
      const none = "There are no messages.";
      await printList((page) => admin.listMessages(org, cid, { ...page, ...filter }), { options, print, none, output });
    });
}
