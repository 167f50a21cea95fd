import { type CommandNode, flatten, nameOf, quote, type ValueKind } from "./command-tree.ts";

/** A completion script for bash 3.2 and later. */
export function bashCompletion(root: CommandNode): string {
  const nodes = flatten(root);
  const paths = nodes.slice(1).map(({ path }) => quote(` ${path}`));
  return `# Completion of herald for bash. For this shell: source <(herald completion bash)
_herald_files() {
  local IFS=$'\\n'
  compopt -o filenames 2>/dev/null
  COMPREPLY=($(compgen -f -- "$1"))
}
_herald_profiles() {
  "\${COMP_WORDS[0]}" profiles --json 2>/dev/null | sed -n 's/^{"profile":"\\([^"]*\\)".*/\\1/p'
}
_herald() {
  local current=\${COMP_WORDS[COMP_CWORD]} previous=\${COMP_WORDS[COMP_CWORD-1]} at='' choices='' i
  COMPREPLY=()
  for ((i = 1; i < COMP_CWORD; i++)); do
    case "$at \${COMP_WORDS[i]}" in
      ${paths.join("|")}) at="$at \${COMP_WORDS[i]}" ;;
    esac
  done
  case "$at" in
${nodes.map(caseOf).join("\n")}
  esac
  COMPREPLY=($(compgen -W "$choices" -- "$current"))
}
complete -F _herald herald
`;
}

function caseOf(node: CommandNode): string {
  const values = node.options.filter(({ value }) => value !== undefined);
  const words = [...node.commands.map(nameOf), ...node.options.flatMap(({ names }) => names)];
  const choices = node.arguments.flatMap(({ value }) => (typeof value === "string" ? [] : value));
  const takesFile = node.arguments.some(({ value }) => value === "file");
  const files = takesFile ? 'case "$current" in -*) ;; *) _herald_files "$current"; return ;; esac; ' : "";
  return [
    `    ${quote(node.path === "" ? "" : ` ${node.path}`)})`,
    '      case "$previous" in',
    ...values.map(({ names, value = "none" }) => `        ${names.join("|")}) ${complete(value)} ;;`),
    `        *) ${files}choices=${quote([...choices, ...words].join(" "))} ;;`,
    "      esac ;;",
  ].join("\n");
}

function complete(kind: ValueKind): string {
  if (kind === "file") return '_herald_files "$current"; return';
  if (kind === "profile") return "choices=$(_herald_profiles)";
  return kind === "none" ? "return" : `choices=${quote(kind.join(" "))}`;
}
