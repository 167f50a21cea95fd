import type { Command } from "commander";
import packageJson from "../../package.json" with { type: "json" };
import type { Output } from "./output/output.ts";

/** The version of Herald, from package.json. */
export const heraldVersion = packageJson.version;

/** `herald version`. */
export function addVersionCommand(program: Command, output: Output): void {
  program
    .command("version")
    .description("print the versions of Herald and its runtime")
    .option("--json", "print one JSON object")
    .addHelpText("after", "\nExample:\n  herald version --json")
    .action(({ json }: { json?: true }) => {
      if (json) output.json({ version: heraldVersion, bun: Bun.version });
      else output.result(`herald ${heraldVersion} (bun ${Bun.version})`);
    });
}
