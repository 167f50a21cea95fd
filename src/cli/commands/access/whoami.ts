import type { Command } from "commander";
import { describeTarget } from "../../client-options.ts";
import { printFields } from "../../output/fields.ts";
import type { Output } from "../../output/output.ts";
import { addCall } from "../../server-commands.ts";

/** `herald whoami`. */
export function addWhoamiCommand(program: Command, output: Output): void {
  const command = program
    .command("whoami")
    .description("show which server commands call, with which key, and what the key may do");
  addCall(command, output, {
    help: "\nExamples:\n  herald whoami\n  herald whoami --profile staging --json",
    async call({ url, admin }) {
      const key = await admin().getOwnKey();
      const { urlFrom = "", keyFrom = "" } = describeTarget(command.opts()) ?? {};
      return { url, url_from: urlFrom, key_from: keyFrom, key };
    },
    show({ url, url_from, key_from, key }) {
      const fields = [
        ["address from", url_from],
        ["key", `${key.name}${key.id === null ? "" : `  ${key.id}`}`],
        ["key from", key_from],
        ["scopes", key.scopes.join(", ")],
        ["organization", key.organization ?? "all"],
        ["senders", key.allowed_senders?.join(", ")],
        ["expires", key.expires_at ?? "never"],
      ] as const;
      printFields(url, fields, output);
    },
  });
}
