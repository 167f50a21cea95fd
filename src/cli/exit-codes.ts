import { HeraldApiError, HeraldArgumentError, HeraldConnectionError } from "../../sdk/index.ts";
import { ConfigError } from "../config.ts";
import { withoutCredentials } from "../contract/keys/redaction.ts";
import { printableLine } from "./output/printable.ts";

/** The exit codes of all commands, as `herald --help` explains them. */
export const exitCodes = { ok: 0, failed: 1, usage: 2, unreachable: 3 } as const;

/** One of the exit codes. */
export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

/** An error for the user: what happened, why, and what to do next. */
export class CliError extends Error {
  override readonly name = "CliError";
  readonly exitCode: ExitCode;

  constructor(exitCode: ExitCode, message: string) {
    super(message);
    this.exitCode = exitCode;
  }
}

const nextSteps: Record<string, string> = {
  unauthorized:
    "Give a key of this server with --key or HERALD_ADMIN_API_KEY. Unless you set one, the first start writes it to <HERALD_DATA_DIR>/admin-api-key.",
  insufficient_scope: "Use a key that has this scope, with --key or HERALD_ADMIN_API_KEY.",
  organization_forbidden: "Use a key with access to this organization, or check --org.",
  sender_forbidden: "Use a key that may send as this user, or check the sender.",
  not_found: "Run `herald keys list` to see which keys exist.",
  organization_not_found: "Create it with PUT /admin/organizations/{org}, or check --org.",
  conversation_not_found: "Create it with PUT /admin/organizations/{org}/conversations/{cid}, or check --to.",
  user_not_found: "Create it with PUT /admin/organizations/{org}/users/{uid}, or check --user.",
  sender_not_found: "Create it with PUT /admin/organizations/{org}/users/{uid}, or check --from.",
  sender_not_participant:
    "Add the sender with PUT /admin/organizations/{org}/conversations/{cid}/participants/{uid}, or check --from.",
  message_id_conflict: "This --id was used for a different message. Omit --id, or send the same message again.",
  not_herald: "Check that --url is the address of a Herald server.",
};

/** The exit code of an error, and the message for stderr without the prefix `herald:`. */
export function explain(error: unknown): { exitCode: ExitCode; message: string } {
  const { exitCode, message } = explanationOf(error);
  return { exitCode, message: withoutCredentials(message) };
}

function explanationOf(error: unknown): { exitCode: ExitCode; message: string } {
  if (error instanceof CliError) return { exitCode: error.exitCode, message: error.message };
  if (error instanceof ConfigError) return { exitCode: exitCodes.usage, message: error.message };
  if (error instanceof HeraldApiError && error.status === 0) {
    const message = `${printableLine(error.detail)}\nStart the server with \`herald serve\`, or give its address with --url.`;
    return { exitCode: exitCodes.unreachable, message };
  }
  if (error instanceof HeraldApiError) return { exitCode: exitCodes.failed, message: describeApiError(error) };
  if (error instanceof HeraldConnectionError)
    return { exitCode: exitCodes.unreachable, message: printableLine(error.message) };
  if (error instanceof HeraldArgumentError) return { exitCode: exitCodes.usage, message: printableLine(error.message) };
  const detail = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return { exitCode: exitCodes.failed, message: `unexpected error. Please report it:\n${detail}` };
}

function describeApiError({ status, code, detail, requestId, errors }: HeraldApiError): string {
  const request = requestId === undefined ? "" : ` [request ${requestId}]`;
  const lines = [`the server refused the request: ${status} ${code}: ${detail}${request}`];
  // A single error is already part of the detail.
  if (errors.length > 1) for (const error of errors) lines.push(`  ${error.pointer}: ${error.detail}`);
  const nextStep = nextSteps[code];
  if (nextStep !== undefined) lines.push(nextStep);
  return lines.map(printableLine).join("\n");
}
