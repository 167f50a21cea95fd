import type { Command } from "commander";
import { accessServer, addClientOptions, type ClientOptions } from "../../client-options.ts";
import type { Output } from "../../output/output.ts";
import { printKey } from "./list.ts";

/** `herald keys get`. */
export function addKeysGetCommand(keys: Command, output: Output): void {
  const command = keys
    .command("get")
    .description("show an API key, without its secret")
    .argument("<id>", "id of the key, from `herald keys list`")
    .option("--json", "print one JSON object");
  addClientOptions(command)
    .addHelpText("after", "\nExample:\n  herald keys get 01a1f90e-0c4d-7a52-b3c6-5d1f2e3a4b5c")
    .action(async (id: string, { json, ...access }: ClientOptions & { json?: true }) => {
      const key = await accessServer(access).admin().getKey(id);
      if (json) return output.json(key);
      printKey(key, output);
    });
}
