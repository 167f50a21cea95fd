import type { Command } from "commander";
import type { ApiKey } from "../../../../sdk/admin.ts";
import { accessServer, addClientOptions, type ClientOptions } from "../../client-options.ts";
import { printFields, titleOf } from "../../output/fields.ts";
import type { Output } from "../../output/output.ts";
import { printList } from "../../output/pages.ts";

/** `herald keys list`. */
export function addKeysListCommand(keys: Command, output: Output): void {
  const command = keys
    .command("list")
    .description("list the API keys, without their secrets; excludes revoked keys and the bootstrap key")
    .option("--json", "print each key as one JSON object per line");
  addClientOptions(command)
    .addHelpText("after", "\nExamples:\n  herald keys list\n  herald keys list --json")
    .action(async ({ json, ...access }: ClientOptions & { json?: true }) => {
      const admin = accessServer(access).admin();
      const options = { all: true, ...(json && { json }) } as const;
      const none = "There are no API keys except the bootstrap key.";
      const print = (items: readonly ApiKey[]) => {
        for (const key of items) printKey(key, output);
      };
      await printList(admin.listKeys, { options, print, none, output });
    });
}

/** Prints one line with the id and the name, then one line for each other property. */
export function printKey(key: ApiKey, output: Output): void {
  const fields = [
    ["scopes", key.scopes.join(", ")],
    ["organization", key.organization],
    ["senders", key.allowed_senders?.join(", ")],
    ["networks", key.cidrs?.join(", ")],
    ["created", key.created_at],
    ["last used", key.last_used_at ?? "never"],
    ["expires", key.expires_at],
    ["old secret until", key.old_secret_expires_at],
  ] as const;
  printFields(titleOf(key), fields, output);
}
