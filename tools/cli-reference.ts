// The reference page of the command line, from the tree of its commands.
import { Command } from "commander";
import { addClientOptions } from "../src/cli/client-options.ts";
import { type CommandNode, flatten, type OptionNode, readCommandTree } from "../src/cli/completion/command-tree.ts";
import { createProgram, exitCodesHelp } from "../src/cli/herald.ts";
import { createOutput } from "../src/cli/output/output.ts";

type Table = (head: readonly string[], rows: readonly (readonly string[])[]) => string;

/** The parts of the page: what all commands share, then each command. */
export function cliReference(table: Table): string[] {
  const program = createProgram(createOutput());
  const shared = readCommandTree(addClientOptions(new Command())).options.filter(isOwn);
  const sharedFlags = new Set(shared.map(({ flags }) => flags));
  const commands = flatten(readCommandTree(program)).filter((node) => node.commands.length === 0);
  return [
    "Every command explains itself with `--help`. With `--json`, a command prints JSON for programs: one object or, for lists, one object on each line. Results go to standard output, everything else to standard error. Tables are cut to the width of a terminal, and complete elsewhere; colours are used only on a terminal, and never if `NO_COLOR` is set.",
    "## Exit codes",
    table(
      ["Code", "Meaning"],
      exitCodesHelp.map(([code, meaning]) => [String(code), meaning]),
    ),
    "`herald serve` ends with 130 or 143 if a second SIGINT or SIGTERM ends it at once.",
    "## Options of commands that call a server",
    "[Use the command line](../how-to/use-the-command-line.md) explains which server a command calls, and with which key.",
    table(["Option", "Meaning"], shared.map(optionRow)),
    "## Commands",
    table(
      ["Command", "What it does"],
      commands.map(({ path, description }) => [`[\`herald ${path}\`](#${anchorOf(path)})`, toMarkdown(description)]),
    ),
    ...commands.flatMap((node) => [...describeCommand(node, sharedFlags, table), examplesOf(program, node.path)]),
  ];
}

const isOwn = ({ flags }: OptionNode): boolean => flags !== "-h, --help";

function describeCommand(node: CommandNode, sharedFlags: Set<string>, table: Table): string[] {
  const callsServer = node.options.some(({ flags }) => flags === "--key <key>");
  const options = node.options.filter(isOwn).filter(({ flags }) => !callsServer || !sharedFlags.has(flags));
  const usage = ["herald", node.path, ...node.arguments.map((argument) => argument.usage), "[options]"].join(" ");
  const calls = callsServer
    ? " Takes [the options of commands that call a server](#options-of-commands-that-call-a-server)."
    : "";
  const rows = [
    ...node.arguments.map((argument) => [`\`${argument.usage}\``, toMarkdown(argument.description)]),
    ...options.map(optionRow),
  ];
  return [
    `### herald ${node.path}`,
    `\`${usage}\``,
    `${toMarkdown(node.description.charAt(0).toUpperCase() + node.description.slice(1))}.${calls}`,
    ...(rows.length === 0 ? [] : [table(["Argument or option", "Meaning"], rows)]),
  ];
}

function optionRow({ flags, description, isRequired }: OptionNode): string[] {
  return [`\`${flags}\`${isRequired ? " (required)" : ""}`, toMarkdown(description)];
}

/** The end of a command's help, from its examples on. */
function examplesOf(program: Command, path: string): string {
  let command: Command | undefined = program;
  for (const word of path.split(" ")) command = command?.commands.find((each) => each.name() === word);
  let help = "";
  command?.configureOutput({
    writeOut: (text) => {
      help += text;
    },
  });
  command?.outputHelp();
  const start = help.search(/^Examples?:$/m);
  const examples = help.slice(start).split("\n").slice(1);
  return examples
    .map((line) => line.replace(/^ {2}/, ""))
    .join("\n")
    .trim();
}

function anchorOf(path: string): string {
  return `herald-${path.replaceAll(" ", "-")}`;
}

/** Placeholders such as `<HERALD_DATA_DIR>` would be tags. */
function toMarkdown(text: string): string {
  return text.replace(/<[^>]+>/g, (placeholder) => `\`${placeholder}\``);
}
