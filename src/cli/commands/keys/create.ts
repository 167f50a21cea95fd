import type { Command } from "commander";
import type { ApiKeyScope, NewApiKey } from "../../../../sdk/admin.ts";
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

/** `herald keys create`. Only the key goes to stdout, so that a script can store it. */
export function addKeysCreateCommand(keys: Command, output: Output): void {
  const command = keys
    .command("create")
    .description("create an API key; its secret is shown only once")
    .requiredOption("--name <text>", "what the key is for")
    .requiredOption("--scope <scope,scope>", "scopes, separated by commas; may be repeated", parseScopes)
    .option("--org <id>", "the only organization that the key can access (default: as for the key in use)")
    .option("--sender <uid,uid>", "the only users that the key may send as; may be repeated", parseUids)
    .option("--cidr <network,network>", "the only networks that the key may be used from; may be repeated", parseCidrs)
    .option("--expires <when>", "when the key expires: a time, or a duration such as 90d, 12h or 30m", parseExpiry)
    .option("--json", "print the server's response as one JSON object");
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
        output.noteStyle.dim(
          printableLine(`created ${made.id} (${made.name}); save the key now, it is not shown again`),
        ),
      );
    });
}
