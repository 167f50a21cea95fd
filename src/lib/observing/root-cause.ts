/** What the innermost error says that caused an error. */
export function rootCauseOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error.cause instanceof Error) return rootCauseOf(error.cause);
  return error.message || error.name;
}
