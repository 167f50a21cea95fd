import { HeraldApiError, HeraldArgumentError, HeraldConnectionError } from "../../../sdk/admin.ts";
import { ConfigError } from "../../config.ts";
import { HeraldError } from "../../contract/errors/errors.ts";
import { withoutCredentials } from "../../contract/keys/redaction.ts";
import type { Target } from "../access/target.ts";
import { CliError, exitCodes } from "../exit-codes.ts";
import { printableLine } from "../output/printable.ts";
import { AdvisedError } from "./advised-error.ts";
import { explainNoResponse } from "./connection-failures.ts";
import { explainRefusal } from "./refusals.ts";

/** The target of errors that occur before one is known. */
const noTarget: Target = { url: "the server", urlFrom: "--url", keyFrom: "--key" };

const databaseIsAway =
  "the database does not respond: it may be starting, overloaded or away. Check it (herald doctor), and try again";

/** The error for the user: its message goes to stderr after `herald:`, without credentials. `target` is the server of the command. */
export async function explain(error: unknown, target: Target = noTarget): Promise<CliError> {
  const { exitCode, message } = await explanationOf(error, target);
  return new CliError(exitCode, withoutCredentials(message));
}

async function explanationOf(error: unknown, target: Target): Promise<CliError> {
  if (error instanceof CliError) return error;
  if (error instanceof AdvisedError) {
    const { exitCode, message } = await explanationOf(error.cause, error.target ?? target);
    return new CliError(exitCode, `${message}\n${error.advice}`);
  }
  if (error instanceof ConfigError) return new CliError(exitCodes.usage, error.message);
  const hasNoResponse = error instanceof HeraldApiError && error.status === 0;
  if (hasNoResponse || error instanceof HeraldConnectionError) {
    const message = await explainNoResponse(error.cause, hasNoResponse ? error.detail : error.message, target);
    return new CliError(exitCodes.unreachable, message);
  }
  if (error instanceof HeraldApiError) return explainRefusal(error, target);
  if (error instanceof HeraldArgumentError) return new CliError(exitCodes.usage, printableLine(error.message));
  if (error instanceof HeraldError && error.code === "unavailable")
    return new CliError(exitCodes.failed, databaseIsAway);
  const detail = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return new CliError(exitCodes.failed, `unexpected error. Please report it:\n${detail}`);
}
