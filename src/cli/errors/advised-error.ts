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
