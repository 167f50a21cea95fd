import { HeraldApiError } from "../../../sdk/admin.ts";
import type { Target } from "../access/target.ts";

/** An error, its `cause`, with a line of advice of the command that failed, and the server that it called if its options do not tell. */
export class AdvisedError extends Error {
  override readonly name = "AdvisedError";
  readonly advice: string;
  readonly target: Target | undefined;

  constructor(cause: unknown, advice: string, target?: Target) {
    super(advice, { cause });
    this.advice = advice;
    this.target = target;
  }
}

/** Without a response, or after a server error, the outcome of a send is unknown. Tells the user how to repeat it safely. */
export function tellId(id: string): (error: unknown) => never {
  return (error) => {
    if (!(error instanceof HeraldApiError) || (error.status !== 0 && error.status < 500)) throw error;
    throw new AdvisedError(error, `Send it again with --id ${id}. If it was already stored, it is not sent twice.`);
  };
}
