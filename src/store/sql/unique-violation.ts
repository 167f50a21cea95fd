// SQLSTATE (PostgreSQL, appendix A) and SQLite's extended result code.
const codes = new Set(["23505", "SQLITE_CONSTRAINT_UNIQUE"]);

/** Whether a statement failed because a row with the same unique values exists. */
export function isUniqueViolation(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return ("errno" in error && codes.has(String(error.errno))) || ("code" in error && codes.has(String(error.code)));
}
