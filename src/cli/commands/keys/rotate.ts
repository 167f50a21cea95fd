import type { Command } from "commander";
import { parseWhole } from "../../arguments.ts";
import { accessServer, addClientOptions, type ClientOptions } from "../../client-options.ts";
import type { Output } from "../../output/output.ts";

type RotateOptions = ClientOptions & { overlap?: number; json?: true };

/** `herald keys rotate`. The key with its new secret alone goes to stdout; that of the server itself only to a terminal. */
export function addKeysRotateCommand(keys: Command, output: Output): void {
  const command = keys
    .command("rotate")
    .description("give an API key a new secret, shown this once; the old one works for a while")
    .argument(
      "<id>",
      "the key's id, as `herald keys list` shows it, or `bootstrap` for the admin API key of the server",
    )
    .option(
      "--overlap <seconds>",
      "how long the old secret works (default: 86400, at most 7 days; 0: no more)",
      parseWhole,
    )
    .option("--json", "print the server's answer as one JSON object");
  addClientOptions(command)
    .addHelpText(
      "after",
      "\nExamples:\n  herald keys rotate 01a1f90e-0c4d-7a52-b3c6-5d1f2e3a4b5c\n  herald keys rotate 01a1f90e-0c4d-7a52-b3c6-5d1f2e3a4b5c --overlap 3600\n  herald keys rotate bootstrap --overlap 0",
    )
    .action(async (id: string, { overlap, json, ...access }: RotateOptions) => {
      const fields = overlap === undefined ? {} : { overlap_seconds: overlap };
      const rotated = await accessServer(access).admin().rotateKey(id, fields);
      if (json) return output.json(rotated);
      const end = rotated.old_secret_expires_at;
      const old = end === null ? "the old secret works no more" : `the old secret works until ${end}`;
      const isKept = id === "bootstrap"; // by the server, so nothing that keeps the output need keep it, too
      if (!isKept || output.isTerminal) output.result(rotated.key);
      const advice = isKept
        ? "the server keeps it in admin-api-key in its data folder"
        : "keep it now: it is not shown again";
      output.note(output.noteStyle.dim(`${advice}; ${old}`));
    });
}
