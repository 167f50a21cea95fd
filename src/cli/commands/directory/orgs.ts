import type { Command } from "commander";
import type { DirectoryEntry, Organization, OrganizationLimits } from "../../../../sdk/admin.ts";
import { parseLimit } from "../../arguments.ts";
import { printFields, titleOf } from "../../output/fields.ts";
import type { Output } from "../../output/output.ts";
import { type Column, createTable } from "../../output/table.ts";
import { addAct, addCall, addGroup, addList } from "../../server-commands.ts";
import { addNameOptions, addYesOption, type NameOptions, nameField } from "./options.ts";

const columns: Column<DirectoryEntry>[] = [
  { title: "ORGANIZATION", cell: ({ id }) => id },
  { title: "NAME", cell: ({ name }) => name ?? "", isCutFirst: true },
  { title: "CREATED", cell: ({ created_at }) => created_at },
];

/** The names of the limits, and of their options. */
const limits = [
  ["requests_per_second", "requestsPerSecond"],
  ["messages_per_second", "messagesPerSecond"],
  ["connections", "connections"],
  ["stored_bytes", "storedBytes"],
] as const;

type LimitOptions = { [Option in (typeof limits)[number][1]]?: ReturnType<typeof parseLimit> };

/** `herald orgs list`, `get`, `put` and `delete`. */
export function addOrgsCommands(program: Command, output: Output): void {
  const orgs = addGroup(program, "orgs", "list, create, change and delete organizations, and set their limits");
  const addOne = (name: string, description: string) =>
    orgs.command(name).description(description).argument("<org>", "id of the organization");

  addList(orgs.command("list").description("list the organizations, by id"), output, {
    help: "\nExamples:\n  herald orgs list\n  herald orgs list --all --json",
    list: (admin) => ({
      read: admin.listOrganizations,
      print: createTable(columns, output).print,
      none: "There are no organizations yet.",
    }),
  });
  addCall(addOne("get", "show an organization, its limits and its current usage"), output, {
    help: "\nExample:\n  herald orgs get demo",
    call: ({ admin }, org: string) => admin().getOrganization(org),
    show(shown) {
      printFields(titleOf(shown), [["created", shown.created_at]], output);
      createTable(limitColumns(shown), output).print(limits.map(([name]) => name));
    },
  });
  const put = "create an organization, or change its name and its limits; what is not given stays as it is";
  addCall(addLimitOptions(addNameOptions(addOne("put", put))), output, {
    help: '\nA limit is a whole number, 0 for no limit, or `default` for that of the server.\n\nExamples:\n  herald orgs put bakery --name "The bakery"\n  herald orgs put bakery --messages-per-second 100 --stored-bytes default',
    json: "print the server's response as one JSON object",
    call({ admin }, org: string, options: NameOptions & LimitOptions) {
      const given = limitsOf(options);
      const hasLimits = Object.keys(given).length > 0;
      return admin().putOrganization(org, { ...nameField(options), ...(hasLimits && { limits: given }) });
    },
    done: (answer) => `saved ${titleOf(answer)}`,
  });
  const deletion = "delete an organization with its users, conversations and messages, and close its connections";
  addAct(addYesOption(addOne("delete", deletion)), output, "deleted", {
    help: "\nExamples:\n  herald orgs delete bakery\n  herald orgs delete bakery --yes",
    toConfirm: (org) => `organization ${org} with all its users, conversations and messages`,
    act: (admin, org) => admin.deleteOrganization(org),
  });
}

function limitColumns({ limits, usage }: Organization): Column<keyof OrganizationLimits>[] {
  return [
    { title: "LIMIT", cell: (name) => name.replaceAll("_", " ") },
    { title: "USED", cell: (name) => String(usage[name] ?? "unknown") },
    {
      title: "ALLOWED",
      cell: (name) => ({ null: "the server's default", 0: "any number" })[String(limits[name])] ?? String(limits[name]),
    },
  ];
}

function addLimitOptions(command: Command): Command {
  return command
    .option("--requests-per-second <limit>", "requests per second over all keys", parseLimit)
    .option("--messages-per-second <limit>", "stored messages and system messages per second", parseLimit)
    .option("--connections <limit>", "concurrently open connections", parseLimit)
    .option("--stored-bytes <limit>", "bytes of stored events", parseLimit);
}

/** The limits that were given, as the server takes them: `null` is its default. */
function limitsOf(options: LimitOptions): Partial<OrganizationLimits> {
  const given = limits.filter(([, option]) => options[option] !== undefined);
  return Object.fromEntries(
    given.map(([name, option]) => [name, options[option] === "default" ? null : options[option]]),
  );
}
