import type { Argument, Command, Option } from "commander";

/** What completes a value: names of files and folders, or of profiles, a choice, or nothing. */
export type ValueKind = "file" | "profile" | "none" | readonly string[];

/** An option. `value` is `undefined` if it takes none. */
export type OptionNode = ReturnType<typeof readOption>;

/** A command without those that are hidden. `path` is how it is called, without `herald`. */
export type CommandNode = {
  path: string;
  description: string;
  arguments: ReturnType<typeof readArgument>[];
  options: OptionNode[];
  commands: CommandNode[];
};

/** Reads the tree of commands below `command`, which is `herald` itself. */
export function readCommandTree(command: Command, path = ""): CommandNode {
  const help = command.createHelp();
  return {
    path,
    description: command.description(),
    arguments: command.registeredArguments.map(readArgument),
    options: help.visibleOptions(command).map(readOption),
    commands: help
      .visibleCommands(command)
      .map((child) => readCommandTree(child, `${path} ${child.name()}`.trimStart())),
  };
}

/** The command and all below it, in the order of the help. */
export function flatten(node: CommandNode): CommandNode[] {
  return [node, ...node.commands.flatMap(flatten)];
}

/** The last word of a command's path. */
export function nameOf({ path }: CommandNode): string {
  return path.slice(path.lastIndexOf(" ") + 1);
}

function readOption({ long, short, flags, description, argChoices, mandatory }: Option) {
  const names = [short, long].filter((name) => name !== undefined && name !== null);
  const [, valueName] = /[<[](.+?)(?:\.\.\.)?[>\]]/.exec(flags) ?? [];
  const value = valueName === undefined ? undefined : kindOf(valueName, argChoices);
  return { names, flags, description, isRequired: mandatory, value };
}

/** An argument, with its `usage` as the help writes it. */
function readArgument(argument: Argument) {
  const name = `${argument.name()}${argument.variadic ? "..." : ""}`;
  const usage = argument.required ? `<${name}>` : `[${name}]`;
  return { usage, description: argument.description, value: kindOf(argument.name(), argument.argChoices) };
}

function kindOf(name: string, choices: readonly string[] | undefined): ValueKind {
  if (choices !== undefined) return choices;
  if (name === "file" || name === "folder") return "file";
  return name === "profile" ? name : "none";
}

/** Quotes a text for a POSIX shell. */
export function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
