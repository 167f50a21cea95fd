/** What a check found: `ok`, a `warning` that can wait, or a `failure` that prevents work. */
export type Finding = {
  subject: string;
  state: "ok" | "warning" | "failure";
  /** What is so. */
  detail: string;
  /** What to do about it, unless it is `ok`. */
  advice?: string;
};

/** The findings of one check. */
export type Check = () => Promise<Finding[]> | Finding[];

/** Creates a finding without advice. */
export function ok(subject: string, detail: string): Finding {
  return { subject, state: "ok", detail };
}

/** Runs a check; what it throws becomes a failure. */
export async function runCheck(subject: string, advice: string, check: Check): Promise<Finding[]> {
  try {
    return await check();
  } catch (error) {
    return [{ subject, state: "failure", detail: reasonOf(error), advice }];
  }
}

/** The message of the innermost cause. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause === undefined ? error.message : reasonOf(error.cause);
}
