import { HeraldError, unavailable } from "../../contract/errors/errors.ts";
import { errorCodeOf } from "../sql/driver.ts";

// SQLSTATE (PostgreSQL, appendix A) and Bun's codes. None of them is a statement's fault: the server is away, restarting, out of
// a resource, read-only or damaged, has aborted a transaction, or lacks a right or a table.
const outOfSpace = "53100";
const readOnly = "25006";
const passing =
  /^(08|28|3D|53|40|55|57|58|XX|25006|25P0[34]|26000|42P05|42501|42P01|3F000|ERR_POSTGRES_(CONNECTION|IDLE|LIFETIME)|E(CONN|PIPE|TIMEDOUT))/;

/** Whether the server refuses to write, as a standby does, or one that is set to read-only. */
export function isReadOnly(error: unknown): boolean {
  return errorCodeOf(error) === readOnly;
}

/** Translates what a server refuses into errors for the caller; anything else is a bug and stays as it is. */
export function translate(error: unknown): unknown {
  if (error instanceof HeraldError || !(error instanceof Error)) return error;
  const state = errorCodeOf(error);
  if (state === outOfSpace) return new HeraldError("storage_full", undefined, { cause: error });
  return passing.test(state) ? unavailable({ cause: error }) : error;
}
