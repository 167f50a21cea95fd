import type { Command } from "commander";
import type { DirectoryEntry, Organization, OrganizationLimits } from "../../../../sdk/admin.ts";
import { parseLimit } from "../../arguments.ts";
import { accessServer, addClientOptions, type ClientOptions } from "../../client-options.ts";
import { printFields, titleOf } from "../../output/fields.ts";
import type { Output } from "../../output/output.ts";
import { addListOptions, type ListOptions, printList } from "../../output/pages.ts";
import { printableLine } from "../../output/printable.ts";
import { type Column, createTable } from "../../output/table.ts";
import { addYesOption, confirmDeletion } from "./deletion.ts";

const columns: Column<DirectoryEntry>[] = [
  { title: "ORGANIZATION", cell: ({ id }) => id },
  { title: "NAME", cell: ({ name }) => name ?? "", isCutFirst: true },
  { title: "CREATED", cell: ({ created_at }) => created_at },
];

const limitNames: Record<keyof OrganizationLimits, string> = {
  requests_per_second: "requests per second",
  messages_per_second: "messages per second",
  connections: "connections",
  stored_bytes: "stored bytes",
};

/** `herald orgs list`, `get`, `put` and `delete`. */
export function addOrgsCommands(program: Command, output: Output): void {
  const orgs = program
    .command("orgs")
    .description("list, create, change and delete organizations, and set their limits")
    .helpCommand(false);
  addList(orgs, output);
  addGet(orgs, output);
  addPut(orgs, output);
  addDelete(orgs, output);
}

function addList(orgs: Command, output: Output): void {
  addClientOptions(addListOptions(orgs.command("list").description("list the organizations, by id")))
    .addHelpText("after", "\nExamples:\n  herald orgs list\n  herald orgs list --all --json")
    .action(async (options: ClientOptions & ListOptions) => {
      const admin = accessServer(options).admin();
      const { print } = createTable(columns, output);
      await printList(admin.listOrganizations, { options, print, none: "There are no organizations yet.", output });
    });
}

function addGet(orgs: Command, output: Output): void {
  const command = orgs
    .command("get")
    .description("show an organization, its limits and its current usage")
    .argument("<org>", "id of the organization")
    .option("--json", "print one JSON object");
  addClientOptions(command)
    .addHelpText("after", "\nExample:\n  herald orgs get demo")
    .action(async (org: string, { json, ...access }: ClientOptions & { json?: true }) => {
      const shown = await accessServer(access).admin().getOrganization(org);
      if (json) return output.json(shown);
      printFields(titleOf(shown), [["created", shown.created_at]], output);
      createTable(limitColumns(shown), output).print([
        "requests_per_second",
        "messages_per_second",
        "connections",
        "stored_bytes",
      ]);
    });
}

function limitColumns({ limits, usage }: Organization): Column<keyof OrganizationLimits>[] {
  return [
    { title: "LIMIT", cell: (name) => limitNames[name] },
    { title: "USED", cell: (name) => String(usage[name] ?? "unknown") },
    {
      title: "ALLOWED",
      cell: (name) => ({ null: "the server's default", 0: "any number" })[String(limits[name])] ?? String(limits[name]),
    },
  ];
}

type GivenLimit = ReturnType<typeof parseLimit>;

type PutOptions = ClientOptions & {
  name?: string | false;
  requestsPerSecond?: GivenLimit;
  messagesPerSecond?: GivenLimit;
  connections?: GivenLimit;
  storedBytes?: GivenLimit;
  json?: true;
};

function addPut(orgs: Command, output: Output): void {
  const command = orgs
    .command("put")
    .description("create an organization, or change its name and its limits; what is not given stays as it is")
    .argument("<org>", "id of the organization")
    .option("--name <text>", "name")
    .option("--no-name", "remove the name")
    .option("--requests-per-second <limit>", "requests per second over all keys", parseLimit)
    .option("--messages-per-second <limit>", "stored messages and system messages per second", parseLimit)
    .option("--connections <limit>", "concurrently open connections", parseLimit)
    .option("--stored-bytes <limit>", "bytes of stored events", parseLimit)
    .option("--json", "print the server's response as one JSON object");
  addClientOptions(command)
    .addHelpText(
      "after",
      '\nA limit is a whole number, 0 for no limit, or `default` for that of the server.\n\nExamples:\n  herald orgs put bakery --name "The bakery"\n  herald orgs put bakery --messages-per-second 100 --stored-bytes default',
    )
    .action(async (org: string, { name, json, ...options }: PutOptions) => {
      const limits = {
        ...limitOf("requests_per_second", options.requestsPerSecond),
        ...limitOf("messages_per_second", options.messagesPerSecond),
        ...limitOf("connections", options.connections),
        ...limitOf("stored_bytes", options.storedBytes),
      };
      const fields = {
        ...(name !== undefined && { name: name === false ? null : name }),
        ...(Object.keys(limits).length > 0 && { limits }),
      };
      const answer = await accessServer(options).admin().putOrganization(org, fields);
      if (json) return output.json(answer);
      output.result(printableLine(`saved ${titleOf(answer)}`));
    });
}

/** A limit as the server takes it: `null` is its default. Nothing if it was not given. */
function limitOf(name: keyof OrganizationLimits, given: GivenLimit | undefined): Partial<OrganizationLimits> {
  return given === undefined ? {} : { [name]: given === "default" ? null : given };
}

function addDelete(orgs: Command, output: Output): void {
  const command = orgs
    .command("delete")
    .description("delete an organization with its users, conversations and messages, and close its connections")
    .argument("<org>", "id of the organization");
  addClientOptions(addYesOption(command).option("--json", "print one JSON object"))
    .addHelpText("after", "\nExamples:\n  herald orgs delete bakery\n  herald orgs delete bakery --yes")
    .action(async (org: string, { yes, json, ...access }: ClientOptions & { yes?: true; json?: true }) => {
      const server = accessServer(access);
      const admin = server.admin();
      await confirmDeletion(`organization ${org} with all its users, conversations and messages`, server.url, yes);
      await admin.deleteOrganization(org);
      if (json) return output.json({ deleted: org });
      output.result(printableLine(`deleted ${org}`));
    });
}
