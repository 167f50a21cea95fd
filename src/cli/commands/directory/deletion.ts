import type { Command } from "commander";
import { ask, canAsk } from "../../access/prompt.ts";
import { CliError, exitCodes } from "../../exit-codes.ts";
import { printableLine } from "../../output/printable.ts";

/** Adds `--yes` to a command that deletes. */
export function addYesOption(command: Command): Command {
  return command.option("--yes", "delete without asking; required if standard input is not a terminal");
}

/** Asks whether to delete `what`, unless `yes`. Throws a `CliError` if the answer is no, or if nobody can answer. */
export async function confirmDeletion(what: string, url: string, yes: true | undefined): Promise<void> {
  if (yes) return;
  if (!canAsk()) throw new CliError(exitCodes.usage, `nothing is deleted without a confirmation. Add --yes.`);
  const answer = await ask(`${printableLine(`Delete ${what} on ${url}?`)} [y/N] `);
  if (!/^y(es)?$/i.test(answer.trim())) throw new CliError(exitCodes.usage, "nothing was deleted.");
}
