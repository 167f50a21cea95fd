import type { Command } from "commander";
import type { AdminClient } from "../../sdk/admin.ts";
import { confirmDeletion } from "./access/prompt.ts";
import { accessServer, addClientOptions, type ServerAccess } from "./client-options.ts";
import type { Output } from "./output/output.ts";
import { addListOptions, type List, printList } from "./output/pages.ts";
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

/** What a command does to something that it names by an id, with its own options and the arguments before the id. */
type Act = {
  help: string;
  json?: string;
  /** What is to be deleted, in words, if that is to be confirmed. The command has `--yes`. */
  toConfirm?(id: string, options: unknown): string;
  act(admin: AdminClient, id: string, options: unknown, ...before: unknown[]): Promise<unknown>;
};

/**
 * Completes a command whose last argument is an id, or ids that it takes one by one. It prints a line with `done` and the id for
 * each or, as JSON, what `act` answers, and if that is nothing, the id as the member `done`.
 */
export function addAct(command: Command, output: Output, done: string, { help, json, toConfirm, act }: Act): void {
  addClientOptions(command.option("--json", json ?? "print one JSON object"))
    .addHelpText("after", help)
    .action(async () => {
      const { url, admin } = accessServer(command.opts());
      const client = admin();
      const before = argsOf(command);
      const [ids, options] = before.splice(-2);
      for (const id of [ids].flat().map(String)) {
        if (toConfirm !== undefined) await confirmDeletion(toConfirm(id, options), url, command.opts());
        const answer = await act(client, id, options, ...before);
        if (command.opts().json) output.json(answer ?? { [done]: id });
        else output.result(printableLine(`${done.replace("_", " ")} ${id}`));
      }
    });
}

/** Completes a command that prints a list from a server, a page at a time. */
export function addList<Item>(
  command: Command,
  output: Output,
  { help, list }: { help: string; list(admin: AdminClient, ...args: unknown[]): List<Item> },
): void {
  addClientOptions(addListOptions(command))
    .addHelpText("after", help)
    .action(async () => {
      const listed = list(accessServer(command.opts()).admin(), ...argsOf(command));
      await printList(listed, command.opts(), output);
    });
}

/** The arguments of a command, then its options, but for those that say which server to call, how to print, or only to try. */
function argsOf(command: Command): unknown[] {
  const { url, key, profile, config, timeout, json, limit, all, cursor, dryRun, ...own } = command.opts();
  return [...command.processedArgs, own];
}
