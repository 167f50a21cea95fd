import { type CommandNode, flatten, nameOf, type OptionNode, type ValueKind } from "./command-tree.ts";

/** A completion script for fish. */
export function fishCompletion(root: CommandNode): string {
  const nodes = flatten(root);
  const paths = nodes.slice(1).map(({ path }) => quote(path));
  return `# Completion of herald for fish. For this shell: herald completion fish | source
function __herald_at
  set -l at
  for word in (commandline -opc)[2..-1]
    if contains -- (string join -- ' ' $at $word) ${paths.join(" ")}
      set -a at $word
    end
  end
  set -l path (string join -- ' ' $at)
  test "$path" = "$argv[1]"
end
function __herald_profiles
  herald profiles --json 2>/dev/null | string replace -rf '^{"profile":"([^"]*)".*' '$1'
end
complete -c herald -f
${nodes.flatMap(linesOf).join("\n")}
`;
}

function linesOf(node: CommandNode): string[] {
  const start = `complete -c herald -n ${quote(`__herald_at ${quote(node.path)}`)}`;
  return [
    ...node.commands.map((child) => `${start} -a ${nameOf(child)} -d ${quote(child.description)}`),
    ...node.arguments.flatMap(({ value }) => (value === "none" ? [] : [`${start} ${complete(value)}`])),
    ...node.options.map((option) => `${start} ${optionOf(option)}`),
  ];
}

function optionOf({ names, description, value }: OptionNode): string {
  const flags = names.map((name) => (name.startsWith("--") ? `-l ${name.slice(2)}` : `-s ${name.slice(1)}`));
  const takes = value === undefined ? [] : ["-r", ...(value === "none" ? ["-f"] : [complete(value)])];
  return [...flags, ...takes, `-d ${quote(description)}`].join(" ");
}

function complete(kind: ValueKind): string {
  if (kind === "file") return "-F";
  if (kind === "profile") return "-f -a '(__herald_profiles)'";
  return kind === "none" ? "-f" : `-f -a ${quote(kind.join(" "))}`;
}

function quote(text: string): string {
  return `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;
}
