import type { Command } from "commander";
import { accessServer, addClientOptions, type ClientOptions, describeTarget } from "../../client-options.ts";
import { printFields } from "../../output/fields.ts";
import type { Output } from "../../output/output.ts";

/** `herald whoami`. */
export function addWhoamiCommand(program: Command, output: Output): void {
  const command = program
    .command("whoami")
    .description("show which server commands call, with which key, and what the key may do")
    .option("--json", "print one JSON object");
  addClientOptions(command)
    .addHelpText("after", "\nExamples:\n  herald whoami\n  herald whoami --profile staging --json")
    .action(async ({ json, ...access }: ClientOptions & { json?: true }) => {
      const { url, admin } = accessServer(access);
      const key = await admin().getOwnKey();
      const { urlFrom = "", keyFrom = "" } = describeTarget(access) ?? {};
      if (json) return output.json({ url, url_from: urlFrom, key_from: keyFrom, key });
      const fields = [
        ["address from", urlFrom],
        ["key", `${key.name}${key.id === null ? "" : `  ${key.id}`}`],
        ["key from", keyFrom],
        ["scopes", key.scopes.join(", ")],
        ["organization", key.organization ?? "all"],
        ["senders", key.allowed_senders?.join(", ")],
        ["expires", key.expires_at ?? "never"],
      ] as const;
      printFields(url, fields, output);
    });
}
