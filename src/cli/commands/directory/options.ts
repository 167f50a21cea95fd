import type { Command } from "commander";
import { ask, canAsk } from "../../access/prompt.ts";
import { CliError, exitCodes } from "../../exit-codes.ts";
import { printableLine } from "../../output/printable.ts";

/** The options of a command that deletes. */
export type DeletionOptions = { yes?: true };

/** Adds `--yes` to a command that deletes. */
export function addYesOption(command: Command): Command {
  return command.option("--yes", "delete without asking; required if standard input is not a terminal");
}

/** Asks whether to delete `what`, unless `yes`. Throws a `CliError` if the answer is no, or if nobody can answer. */
export async function confirmDeletion(what: string, url: string, { yes }: DeletionOptions): Promise<void> {
  if (yes) return;
  if (!canAsk()) throw new CliError(exitCodes.usage, `nothing is deleted without a confirmation. Add --yes.`);
  const answer = await ask(`${printableLine(`Delete ${what} on ${url}?`)} [y/N] `);
  if (!/^y(es)?$/i.test(answer.trim())) throw new CliError(exitCodes.usage, "nothing was deleted.");
}

/** The options of a command that gives something a name, or takes it away. */
export type NameOptions = { name?: string | false };

/** Adds `--name` and `--no-name` to a command. */
export function addNameOptions(command: Command): Command {
  return command.option("--name <text>", "name").option("--no-name", "remove the name");
}

/** The name as the server takes it. Nothing if it stays as it is. */
export function nameField({ name }: NameOptions): { name?: string | null } {
  return name === undefined ? {} : { name: name === false ? null : name };
}

/** Adds `--prefix` to a command that lists. */
export function addPrefixOption(command: Command): Command {
  return command.option("--prefix <text>", "only those whose id or name begins with this text, ignoring case");
}
