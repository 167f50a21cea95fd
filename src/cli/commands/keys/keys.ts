import type { Command } from "commander";
import type { ApiKey, ApiKeyScope } from "../../../../sdk/admin.ts";
import { scopes } from "../../../contract/keys/scopes.ts";
import { parseCidrs, parseExpiry, parseScopes, parseUids, parseWhole } from "../../arguments.ts";
import { accessServer, addClientOptions, type ClientOptions } from "../../client-options.ts";
import { printFields, titleOf } from "../../output/fields.ts";
import type { Output } from "../../output/output.ts";
import { printableLine } from "../../output/printable.ts";
import { addAct, addCall, addGroup } from "../../server-commands.ts";

type CreateOptions = {
  name: string;
  scope: ApiKeyScope[];
  org?: string;
  sender?: string[];
  cidr?: string[];
  expires?: string;
};

const createHelp = `
Scopes:
${Object.entries(scopes)
  .map(([scope, allows]) => `  ${scope.padEnd(17)}${allows}`)
  .join("\n")}

Examples:
  herald keys create --name "parcel tracking" --scope message:send --org demo --sender alice
  herald keys create --name report --scope history:read,observe --cidr 192.0.2.0/24 --expires 90d --json`;

/** `herald keys create`, `list`, `get`, `rotate` and `revoke`. */
export function addKeysCommands(program: Command, output: Output): void {
  const keys = addGroup(program, "keys", "create, list, rotate and revoke API keys");
  const idHelp = "id of the key, from `herald keys list`";
  addCreate(keys, output);
  addList(keys, output);
  const get = keys.command("get").description("show an API key, without its secret").argument("<id>", idHelp);
  addCall(get, output, {
    help: "\nExample:\n  herald keys get 01a1f90e-0c4d-7a52-b3c6-5d1f2e3a4b5c",
    call: ({ admin }, id: string) => admin().getKey(id),
    show: (key) => printKey(key, output),
  });
  const rotate = keys
    .command("rotate")
    .description("give an API key a new secret, shown only once; the old secret keeps working for a while")
    .argument("<id>", `${idHelp}, or \`bootstrap\` for the server's admin API key`)
    .option(
      "--overlap <seconds>",
      "how long the old secret keeps working (default: 86400, at most 7 days; 0 ends it immediately)",
      parseWhole,
    );
  addCall(rotate, output, {
    help: "\nExamples:\n  herald keys rotate 01a1f90e-0c4d-7a52-b3c6-5d1f2e3a4b5c\n  herald keys rotate 01a1f90e-0c4d-7a52-b3c6-5d1f2e3a4b5c --overlap 3600\n  herald keys rotate bootstrap --overlap 0",
    json: "print the server's response as one JSON object",
    call: ({ admin }, id: string, { overlap }: { overlap?: number }) =>
      admin().rotateKey(id, overlap === undefined ? {} : { overlap_seconds: overlap }),
    show({ key, old_secret_expires_at: end }, id: string) {
      const old = end === null ? "the old secret no longer works" : `the old secret works until ${end}`;
      const isKept = id === "bootstrap"; // by the server, so keep it out of logs and pipes
      if (!isKept || output.isTerminal) output.result(key);
      const advice = isKept
        ? "the server keeps the key in the file admin-api-key in its data folder"
        : "save the key now, it is not shown again";
      output.note(output.noteStyle.dim(`${advice}; ${old}`));
    },
  });
  const revoke = keys
    .command("revoke")
    .description("revoke an API key permanently; every node refuses it within 5 seconds")
    .argument("<id>", idHelp);
  addAct(revoke, output, "revoked", {
    help: "\nExamples:\n  herald keys revoke 01a1f90e-0c4d-7a52-b3c6-5d1f2e3a4b5c",
    act: (admin, id) => admin.revokeKey(id),
  });
}

/** Only the key goes to stdout, so that a script can store it. */
function addCreate(keys: Command, output: Output): void {
  const command = keys
    .command("create")
    .description("create an API key; its secret is shown only once")
    .requiredOption("--name <text>", "what the key is for")
    .requiredOption("--scope <scope,scope>", "scopes, separated by commas; may be repeated", parseScopes)
    .option("--org <id>", "the only organization that the key can access (default: as for the key in use)")
    .option("--sender <uid,uid>", "the only users that the key may send as; may be repeated", parseUids)
    .option("--cidr <network,network>", "the only networks that the key may be used from; may be repeated", parseCidrs)
    .option("--expires <when>", "when the key expires: a time, or a duration such as 90d, 12h or 30m", parseExpiry);
  addCall(command, output, {
    help: createHelp,
    json: "print the server's response as one JSON object",
    call: ({ admin }, { name, scope, org, sender, cidr, expires }: CreateOptions) =>
      admin().createKey({
        name,
        scopes: scope,
        ...(org !== undefined && { organization: org }),
        ...(sender !== undefined && { allowed_senders: sender }),
        ...(cidr !== undefined && { cidrs: cidr }),
        ...(expires !== undefined && { expires_at: expires }),
      }),
    show({ key, id, name }) {
      output.result(key);
      const note = `created ${id} (${name}); save the key now, it is not shown again`;
      output.note(output.noteStyle.dim(printableLine(note)));
    },
  });
}

/** Unlike other lists, this one has no pages: it is short. */
function addList(keys: Command, output: Output): void {
  const command = keys
    .command("list")
    .description("list the API keys, without their secrets; excludes revoked keys and the bootstrap key")
    .option("--json", "print each key as one JSON object per line");
  addClientOptions(command)
    .addHelpText("after", "\nExamples:\n  herald keys list\n  herald keys list --json")
    .action(async ({ json, ...access }: ClientOptions & { json?: true }) => {
      const { items } = await accessServer(access).admin().listKeys();
      for (const key of items) {
        if (json) output.json(key);
        else printKey(key, output);
      }
      if (items.length === 0 && !json) output.note("There are no API keys except the bootstrap key.");
    });
}

/** Prints one line with the id and the name, then one line for each other property. */
function printKey(key: ApiKey, output: Output): void {
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
