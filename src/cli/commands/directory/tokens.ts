import type { Command } from "commander";
import { parsePositive } from "../../arguments.ts";
import { CliError, exitCodes } from "../../exit-codes.ts";
import type { Output } from "../../output/output.ts";
import { addCall, addGroup } from "../../server-commands.ts";

/** `herald tokens create` and `revoke`, and `herald token`, which is short for `create`. */
export function addTokenCommands(program: Command, output: Output): void {
  const tokens = addGroup(program, "tokens", "issue and revoke the tokens with which users connect");
  const description = "issue a token for a user to connect with";
  addCreate(tokens.command("create"), description, "herald tokens create", output);
  addRevoke(tokens, output);
  addCreate(program.command("token"), `${description}; short for \`herald tokens create\``, "herald token", output);
}

/** Only the token goes to stdout, so that a script can use it. */
function addCreate(command: Command, description: string, called: string, output: Output): void {
  command
    .description(description)
    .requiredOption("--org <id>", "organization of the user")
    .requiredOption("--user <id>", "user")
    .option("--ttl <seconds>", "how long the token is valid (default: 3600, at most 30 days)", parsePositive);
  addCall(command, output, {
    help: `\nExamples:\n  ${called} --org demo --user bob\n  ${called} --org demo --user bob --ttl 60 --json`,
    call: ({ admin }, { org, user, ttl }: { org: string; user: string; ttl?: number }) =>
      admin().createToken(org, user, ttl === undefined ? {} : { ttl_seconds: ttl }),
    show({ token, expires_at }) {
      output.result(token);
      output.note(output.noteStyle.dim(`valid until ${expires_at}`));
    },
  });
}

function addRevoke(tokens: Command, output: Output): void {
  const command = tokens
    .command("revoke")
    .description("revoke one token: close its connections on all nodes and refuse it from now on")
    .argument("<token>", "the token, or its id (the claim jti) with --org and --user")
    .option("--org <id>", "organization of the user (default: that of the token)")
    .option("--user <id>", "user (default: that of the token)");
  addCall(command, output, {
    help: '\nExamples:\n  herald tokens revoke "$TOKEN"\n  herald tokens revoke 01a1f90e-0c4d-7a52-b3c6-5d1f2e3a4b5c --org demo --user bob',
    async call({ admin }, given: string, options: { org?: string; user?: string }) {
      const claims = readClaims(given);
      const { jti = given } = claims;
      const { org = claims.org, user = claims.sub } = options;
      if (org === undefined || user === undefined)
        throw new CliError(
          exitCodes.usage,
          "whose token is it? Give the whole token, or its id with --org and --user.",
        );
      await admin().revokeToken(org, user, jti);
      return { revoked: jti };
    },
    done: ({ revoked }) => `revoked ${revoked}`,
  });
}

type Claims = { jti?: string; org?: string; sub?: string };

/** The claims of a token (RFC 7519), unverified: the server only ever revokes what it is told. Nothing for an id. */
function readClaims(text: string): Claims {
  const [, payload, signature] = text.split(".");
  if (payload === undefined || signature === undefined) return {};
  let claims: Record<string, unknown>;
  try {
    claims = JSON.parse(Buffer.from(payload, "base64url").toString());
  } catch {
    return {};
  }
  const { jti, org, sub } = claims ?? {};
  if (typeof jti !== "string")
    throw new CliError(
      exitCodes.usage,
      "the token has no id (the claim jti). Sign the user out with `herald users sign-out`.",
    );
  return { jti, ...(typeof org === "string" && { org }), ...(typeof sub === "string" && { sub }) };
}
