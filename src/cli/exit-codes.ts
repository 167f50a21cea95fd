/** The exit codes of all commands, as `herald --help` explains them. */
export const exitCodes = { ok: 0, failed: 1, usage: 2, unreachable: 3 } as const;

type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

/** An error for the user: what happened, why, and what to do next. */
export class CliError extends Error {
  override readonly name = "CliError";
  readonly exitCode: ExitCode;

  constructor(exitCode: ExitCode, message: string) {
    super(message);
    this.exitCode = exitCode;
  }
}
