import { HeraldApiError } from "../../../sdk/admin.ts";
import { AdvisedError } from "../errors/advised-error.ts";

/** Without a response, or after a server error, the outcome of a send is unknown. Tells the user how to repeat it safely. */
export function tellId(id: string): (error: unknown) => never {
  return (error) => {
    if (!(error instanceof HeraldApiError) || (error.status !== 0 && error.status < 500)) throw error;
    throw new AdvisedError(error, `Send it again with --id ${id}. If it was already stored, it is not sent twice.`);
  };
}
