import { HeraldError, unavailable } from "../../contract/errors/errors.ts";

// SQLSTATE (PostgreSQL, appendix A) and Bun's codes. None of them is a statement's fault: the server is away, restarting, out of
// a resource, read-only or damaged, has aborted a transaction, or lacks a right or a table.
const outOfSpace = /^53100$/;
const readOnly = /^25006$/;
const passing =
  /^(08|28|3D|53|40|55|57|58|XX|25006|25P0[34]|26000|42P05|42501|42P01|3F000|ERR_POSTGRES_(CONNECTION|IDLE|LIFETIME)|E(CONN|PIPE|TIMEDOUT))/;

/** The SQLSTATE of an error of PostgreSQL, or Bun's code of a broken connection; empty for any other error. */
export function stateOf(error: unknown): string {
  if (!(error instanceof Error)) return "";
  if ("errno" in error && typeof error.errno === "string") return error.errno;
  return "code" in error && typeof error.code === "string" ? error.code : "";
}

/** Whether the server refuses to write, as a standby does, or one that is set to read-only. */
export function isReadOnly(error: unknown): boolean {
  return readOnly.test(stateOf(error));
}

/** Translates what a server refuses into errors for the caller; anything else is a bug and stays as it is. */
export function translate(error: unknown): unknown {
  if (error instanceof HeraldError || !(error instanceof Error)) return error;
  const state = stateOf(error);
  if (outOfSpace.test(state)) return new HeraldError("storage_full", undefined, { cause: error });
  return passing.test(state) ? unavailable({ cause: error }) : error;
}
