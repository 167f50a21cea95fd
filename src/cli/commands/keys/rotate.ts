import type { Command } from "commander";
import { parseWhole } from "../../arguments.ts";
import { accessServer, addClientOptions, type ClientOptions } from "../../client-options.ts";
import type { Output } from "../../output/output.ts";

type RotateOptions = ClientOptions & { overlap?: number; json?: true };

/** `herald keys rotate`. Only the key with its new secret goes to stdout; the server's own key only if stdout is a terminal. */
export function addKeysRotateCommand(keys: Command, output: Output): void {
  const command = keys
    .command("rotate")
    .description("give an API key a new secret, shown only once; the old secret keeps working for a while")
    .argument("<id>", "id of the key, from `herald keys list`, or `bootstrap` for the server's admin API key")
    .option(
      "--overlap <seconds>",
      "how long the old secret keeps working (default: 86400, at most 7 days; 0 ends it immediately)",
      parseWhole,
    )
    .option("--json", "print the server's response as one JSON object");
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
      const old = end === null ? "the old secret no longer works" : `the old secret works until ${end}`;
      const isKept = id === "bootstrap"; // by the server, so keep it out of logs and pipes
      if (!isKept || output.isTerminal) output.result(rotated.key);
      const advice = isKept
        ? "the server keeps the key in the file admin-api-key in its data folder"
        : "save the key now, it is not shown again";
      output.note(output.noteStyle.dim(`${advice}; ${old}`));
    });
}
