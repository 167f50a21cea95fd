import { Argument, type Command } from "commander";
import { bashCompletion } from "../completion/bash.ts";
import { readCommandTree } from "../completion/command-tree.ts";
import { fishCompletion } from "../completion/fish.ts";
import { zshCompletion } from "../completion/zsh.ts";
import type { Output } from "../output/output.ts";

const scripts = { bash: bashCompletion, zsh: zshCompletion, fish: fishCompletion };

const afterHelp = `
Examples:
  herald completion bash > /etc/bash_completion.d/herald
  herald completion zsh > "\${fpath[1]}/_herald"
  herald completion fish > ~/.config/fish/completions/herald.fish

For the shell in use only: source <(herald completion bash)`;

/** `herald completion`. */
export function addCompletionCommand(program: Command, output: Output): void {
  program
    .command("completion")
    .description("print a script that completes commands, options and profiles in a shell")
    .addArgument(new Argument("<shell>", "the shell").choices(Object.keys(scripts)))
    .addHelpText("after", afterHelp)
    .action((shell: keyof typeof scripts) => output.result(scripts[shell](readCommandTree(program)).trimEnd()));
}
