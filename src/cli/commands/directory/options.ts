import type { Command } from "commander";

/** Adds `--yes` to a command that deletes. */
export function addYesOption(command: Command): Command {
  return command.option("--yes", "delete without asking; required if standard input is not a terminal");
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

/** A command about one user: `herald users <name> <uid> --org …`. */
export function addUserCommand(users: Command, name: string, description: string): Command {
  return users
    .command(name)
    .description(description)
    .argument("<uid>", "id of the user")
    .requiredOption("--org <id>", "organization of the user");
}
