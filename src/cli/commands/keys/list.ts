import type { Command } from "commander";
import type { AdminClient, ApiKey } from "../../../../sdk/index.ts";
import { accessServer, addClientOptions, type ClientOptions } from "../../client-options.ts";
import type { Output } from "../../output/output.ts";
import { printableLine } from "../../output/printable.ts";

const perPage = 1000;

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
      let count = 0;
      for await (const key of allKeys(admin)) {
        count++;
        if (json) output.json(key);
        else for (const line of describe(key, output)) output.result(line);
      }
      if (count === 0 && !json) output.note("There are no API keys except the bootstrap key.");
    });
}

async function* allKeys(admin: AdminClient): AsyncGenerator<ApiKey, void> {
  for (let cursor: string | undefined; ; ) {
    const page = await admin.listKeys({ limit: perPage, ...(cursor !== undefined && { cursor }) });
    yield* page.items;
    if (page.cursor === null) return;
    cursor = page.cursor;
  }
}

/** One line with the id and the name, then one line for each other property. */
function describe(key: ApiKey, { resultStyle }: Output): string[] {
  const lines = [
    ["scopes", key.scopes.join(", ")],
    ["organization", key.organization],
    ["senders", key.allowed_senders?.join(", ")],
    ["networks", key.cidrs?.join(", ")],
    ["created", key.created_at],
    ["last used", key.last_used_at ?? "never"],
    ["expires", key.expires_at],
    ["old secret until", key.old_secret_expires_at],
  ].flatMap(([label, value]) => (value ? [`  ${label}  ${value}`] : []));
  return [resultStyle.bold(printableLine(`${key.id}  ${key.name}`)), ...lines.map(printableLine)];
}
