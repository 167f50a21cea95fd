import { HeraldApiError, HeraldArgumentError, HeraldConnectionError } from "../../../sdk/admin.ts";
import { ConfigError } from "../../config.ts";
import { HeraldError } from "../../contract/errors/errors.ts";
import { withoutCredentials } from "../../contract/keys/redaction.ts";
import type { Target } from "../access/target.ts";
import { CliError, type ExitCode, exitCodes } from "../exit-codes.ts";
import { printableLine } from "../output/printable.ts";
import { AdvisedError } from "./advised-error.ts";
import { explainNoResponse } from "./connection-failures.ts";
import { explainRefusal } from "./refusals.ts";

type Explanation = { exitCode: ExitCode; message: string };

/** The target of errors that occur before one is known. */
const noTarget: Target = { url: "the server", urlFrom: "--url", keyFrom: "--key" };

const databaseIsAway =
  "the database does not respond: it may be starting, overloaded or away. Check it (herald doctor), and try again";

/** The exit code of an error, and the message for stderr without the prefix `herald:`. `target` is the server of the command. */
export async function explain(error: unknown, target: Target = noTarget): Promise<Explanation> {
  const { exitCode, message } = await explanationOf(error, target);
  return { exitCode, message: withoutCredentials(message) };
}

async function explanationOf(error: unknown, target: Target): Promise<Explanation> {
  if (error instanceof CliError) return { exitCode: error.exitCode, message: error.message };
  if (error instanceof AdvisedError) {
    const { exitCode, message } = await explanationOf(error.cause, error.target ?? target);
    return { exitCode, message: `${message}\n${error.advice}` };
  }
  if (error instanceof ConfigError) return { exitCode: exitCodes.usage, message: error.message };
  const hasNoResponse = error instanceof HeraldApiError && error.status === 0;
  if (hasNoResponse || error instanceof HeraldConnectionError) {
    const message = await explainNoResponse(error.cause, hasNoResponse ? error.detail : error.message, target);
    return { exitCode: exitCodes.unreachable, message };
  }
  if (error instanceof HeraldApiError) return explainRefusal(error, target);
  if (error instanceof HeraldArgumentError) return { exitCode: exitCodes.usage, message: printableLine(error.message) };
  if (error instanceof HeraldError && error.code === "unavailable")
    return { exitCode: exitCodes.failed, message: databaseIsAway };
  const detail = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return { exitCode: exitCodes.failed, message: `unexpected error. Please report it:\n${detail}` };
}
