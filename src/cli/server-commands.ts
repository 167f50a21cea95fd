import type { Command } from "commander";
import type { AdminClient } from "../../sdk/admin.ts";
import { accessServer, addClientOptions, type ServerAccess } from "./client-options.ts";
import type { Output } from "./output/output.ts";
import { addListOptions, type ListOutput, printList, type ReadPage } from "./output/pages.ts";
import { printableLine } from "./output/printable.ts";

/** The options of a command about something in an organization. */
export type InOrganization = { org: string };

/** Adds a group of commands. */
export function addGroup(program: Command, name: string, description: string): Command {
  return program.command(name).description(description).helpCommand(false);
}

/** Adds a command about something in an organization, which `--org` names. */
export function addOrganizationCommand(group: Command, name: string, description: string): Command {
  return group.command(name).description(description).requiredOption("--org <id>", "organization");
}

/**
 * What a command does that calls a server. `args` are its arguments, and then its own options. `help` follows the options, and
 * `json` describes `--json`, with which the answer is printed as it is. Otherwise `show` prints it, or `done` says in one line what
 * was done.
 */
export type Call<Answer> = {
  help: string;
  json?: string;
  call(server: ServerAccess, ...args: unknown[]): Promise<Answer>;
} & ({ show(answer: Answer, ...args: unknown[]): void } | { done(answer: Answer, ...args: unknown[]): string });

/** Completes a command that calls a server. */
export function addCall<Answer>(command: Command, output: Output, given: Call<Answer>): void {
  addClientOptions(command.option("--json", given.json ?? "print one JSON object"))
    .addHelpText("after", given.help)
    .action(async () => {
      const args = argsOf(command);
      const answer = await given.call(accessServer(command.opts()), ...args);
      if (command.opts().json) output.json(answer);
      else if ("show" in given) given.show(answer, ...args);
      else output.result(printableLine(given.done(answer, ...args)));
    });
}

/** What a command lists, and how it prints a part of the list. */
export type List<Item> = { read: ReadPage<Item> } & Pick<ListOutput<Item>, "print" | "none">;

/** Completes a command that prints a list from a server, a page at a time. */
export function addList<Item>(
  command: Command,
  output: Output,
  { help, list }: { help: string; list(admin: AdminClient, ...args: unknown[]): List<Item> },
): void {
  addClientOptions(addListOptions(command))
    .addHelpText("after", help)
    .action(async () => {
      const { read, ...how } = list(accessServer(command.opts()).admin(), ...argsOf(command));
      await printList(read, { ...how, options: command.opts(), output });
    });
}

/** The arguments of a command, then its options, but for those that say which server to call, and how to print. */
function argsOf(command: Command): unknown[] {
  const { url, key, profile, config, timeout, json, limit, all, cursor, ...own } = command.opts();
  return [...command.processedArgs, own];
}
