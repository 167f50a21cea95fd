import type { Command } from "commander";
import { parsePositive } from "../arguments.ts";
import { accessServer, addClientOptions, type ClientOptions } from "../client-options.ts";
import type { Output } from "../output/output.ts";

type TokenOptions = ClientOptions & { org: string; user: string; ttl?: number; json?: true };

/** `herald token`. Only the token goes to stdout, so that a script can use it. */
export function addTokenCommand(program: Command, output: Output): void {
  const command = program
    .command("token")
    .description("issue a token for a user to connect with")
    .requiredOption("--org <id>", "organization of the user")
    .requiredOption("--user <id>", "user")
    .option("--ttl <seconds>", "how long the token is valid (default: 3600, at most 30 days)", parsePositive)
    .option("--json", "print one JSON object");
  addClientOptions(command)
    .addHelpText(
      "after",
      "\nExamples:\n  herald token --org demo --user bob\n  herald token --org demo --user bob --ttl 60 --json",
    )
    .action(async ({ org, user, ttl, json, ...access }: TokenOptions) => {
      const answer = await accessServer(access)
        .admin()
        .createToken(org, user, ttl === undefined ? {} : { ttl_seconds: ttl });
      if (json) return output.json(answer);
      output.result(answer.token);
      output.note(output.noteStyle.dim(`valid until ${answer.expires_at}`));
    });
}
