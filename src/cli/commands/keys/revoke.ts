import type { Command } from "commander";
import { accessServer, addClientOptions, type ClientOptions } from "../../client-options.ts";
import type { Output } from "../../output/output.ts";
import { printableLine } from "../../output/printable.ts";

/** `herald keys revoke`. */
export function addKeysRevokeCommand(keys: Command, output: Output): void {
  const command = keys
    .command("revoke")
    .description("revoke an API key permanently; every node refuses it within 5 seconds")
    .argument("<id>", "id of the key, from `herald keys list`")
    .option("--json", "print one JSON object");
  addClientOptions(command)
    .addHelpText("after", "\nExamples:\n  herald keys revoke 01a1f90e-0c4d-7a52-b3c6-5d1f2e3a4b5c")
    .action(async (id: string, { json, ...access }: ClientOptions & { json?: true }) => {
      await accessServer(access).admin().revokeKey(id);
      if (json) return output.json({ revoked: id });
      output.result(printableLine(`revoked ${id}`));
    });
}
