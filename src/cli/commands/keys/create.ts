import type { Command } from "commander";
import type { ApiKeyScope, NewApiKey } from "../../../../sdk/index.ts";
import { scopes } from "../../../contract/keys/scopes.ts";
import { parseCidrs, parseExpiry, parseScopes, parseUids } from "../../arguments.ts";
import { accessServer, addClientOptions, type ClientOptions } from "../../client-options.ts";
import type { Output } from "../../output/output.ts";
import { printableLine } from "../../output/printable.ts";

type CreateOptions = ClientOptions & {
  name: string;
  scope: ApiKeyScope[];
  org?: string;
  sender?: string[];
  cidr?: string[];
  expires?: string;
  json?: true;
};

const afterHelp = `
Scopes:
${Object.entries(scopes)
  .map(([scope, allows]) => `  ${scope.padEnd(17)}${allows}`)
  .join("\n")}

Examples:
  herald keys create --name "parcel tracking" --scope message:send --org demo --sender alice
  herald keys create --name report --scope history:read,observe --cidr 192.0.2.0/24 --expires 90d --json`;

/** `herald keys create`. The key alone goes to stdout, so that a script can put it where it belongs. */
export function addKeysCreateCommand(keys: Command, output: Output): void {
  const command = keys
    .command("create")
    .description("make an API key; its secret is shown this once")
    .requiredOption("--name <text>", "what it is for")
    .requiredOption("--scope <scope,scope>", "what it may do, with commas between; may be repeated", parseScopes)
    .option("--org <id>", "the only organization that it sees and changes (default: as the key in use)")
    .option("--sender <uid,uid>", "the only users that it may send as; may be repeated", parseUids)
    .option("--cidr <network,network>", "the only networks that it may be used from; may be repeated", parseCidrs)
    .option("--expires <when>", "when it ends: a time, or a span such as 90d, 12h or 30m", parseExpiry)
    .option("--json", "print the server's answer as one JSON object");
  addClientOptions(command)
    .addHelpText("after", afterHelp)
    .action(async ({ name, scope, org, sender, cidr, expires, json, ...access }: CreateOptions) => {
      const wanted: NewApiKey = {
        name,
        scopes: scope,
        ...(org !== undefined && { organization: org }),
        ...(sender !== undefined && { allowed_senders: sender }),
        ...(cidr !== undefined && { cidrs: cidr }),
        ...(expires !== undefined && { expires_at: expires }),
      };
      const made = await accessServer(access).admin().createKey(wanted);
      if (json) return output.json(made);
      output.result(made.key);
      output.note(
        output.noteStyle.dim(printableLine(`made ${made.id} (${made.name}); keep it now: it is not shown again`)),
      );
    });
}
