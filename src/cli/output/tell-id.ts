import { HeraldApiError } from "../../../sdk/index.ts";
import { CliError, explain } from "../exit-codes.ts";

/** After no answer or a failure of the server the outcome of a send is unknown: tells how to repeat it without harm. */
export function tellId(id: string): (error: unknown) => never {
  return (error) => {
    if (!(error instanceof HeraldApiError) || (error.status !== 0 && error.status < 500)) throw error;
    const { exitCode, message } = explain(error);
    throw new CliError(
      exitCode,
      `${message}\nSend it again with --id ${id}: if it was stored after all, it is not sent twice.`,
    );
  };
}
