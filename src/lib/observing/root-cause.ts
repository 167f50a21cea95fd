/** What the innermost cause of an error says. */
export function rootCauseOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error.cause !== undefined) return rootCauseOf(error.cause);
  return error.message || error.name;
}
