import { type CommandNode, flatten, nameOf, quote, type ValueKind } from "./command-tree.ts";

/** A completion script for zsh, to be sourced, or installed as `_herald` in a folder of `$fpath`. */
export function zshCompletion(root: CommandNode): string {
  const nodes = flatten(root);
  const paths = nodes.slice(1).map(({ path }) => quote(` ${path}`));
  return `#compdef herald
# Completion of herald for zsh. For this shell: source <(herald completion zsh)
_herald_profiles() {
  local -a names
  names=(\${(f)"$(herald profiles --json 2>/dev/null | sed -n 's/^{"profile":"\\([^"]*\\)".*/\\1/p')"})
  compadd -- $names
}
_herald() {
  local at='' previous=\${words[CURRENT-1]} i
  local -a commands options
  for ((i = 2; i < CURRENT; i++)); do
    case "$at \${words[i]}" in
      (${paths.join("|")}) at="$at \${words[i]}" ;;
    esac
  done
  case "$at" in
${nodes.map(caseOf).join("\n")}
  esac
  (( $#commands )) && _describe 'command' commands
  (( $#options )) && _describe 'option' options
}
if [ "$funcstack[1]" = _herald ]; then _herald "$@"; else compdef _herald herald; fi
`;
}

function caseOf(node: CommandNode): string {
  const values = node.options.filter(({ value }) => value !== undefined);
  const commands = node.commands.map((child) => describe(nameOf(child), child.description));
  const options = node.options.flatMap(({ names, description }) => names.map((name) => describe(name, description)));
  const operands = node.arguments.flatMap(({ value }) => (value === "none" ? [] : [complete(value)]));
  return [
    `    (${quote(node.path === "" ? "" : ` ${node.path}`)})`,
    '      case "$previous" in',
    ...values.map(({ names, value = "none" }) => `        (${names.join("|")}) ${complete(value)}; return ;;`),
    `        (*) ${operands.map((operand) => `${operand}; `).join("")}commands=(${commands.join(" ")}) options=(${options.join(" ")}) ;;`,
    "      esac ;;",
  ].join("\n");
}

function complete(kind: ValueKind): string {
  if (kind === "file") return "_files";
  if (kind === "profile") return "_herald_profiles";
  return kind === "none" ? ":" : `compadd -- ${kind.join(" ")}`;
}

function describe(name: string, description: string): string {
  return quote(`${name}:${description}`);
}
