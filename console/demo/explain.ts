import { HeraldApiError } from "../../sdk/errors.ts";

/** What went wrong with a call, and what the user can do about it. */
export function explain(error: unknown): string {
  if (!(error instanceof HeraldApiError)) return error instanceof Error ? error.message : String(error);
  const explanations: Record<string, string> = {
    unauthorized: "The server refuses this key. Copy the whole line from the file.",
    insufficient_scope: `${error.detail}. Use the key in the file, which has every scope.`,
    organization_forbidden: "This key has no access to the organization `demo`. Use the key in the file.",
    organization_not_found:
      "There is no demo organization. HERALD_DEMO=1 creates it only in an empty database: start the server with another HERALD_DATA_DIR.",
    conversation_not_found:
      "The demo conversation `welcome` was deleted. Start the server with another HERALD_DATA_DIR.",
    unavailable: "The server cannot handle the request right now. Try again in a moment.",
    not_herald: "Something other than Herald answered. Check the proxy between this browser and Herald.",
    unreachable: "The server does not respond. Check that it is still running.",
  };
  return explanations[error.code] ?? error.message;
}

/** Whether the error only means that there is no connection, which the connection's state already shows. */
export function isAbsence(error: unknown): boolean {
  return error instanceof HeraldApiError && error.status === 0;
}

/** Whether the same call may succeed in a moment: there was no answer, or the server, or a proxy, cannot give one now. */
export function isPassing(error: unknown): boolean {
  return error instanceof HeraldApiError && (error.status === 0 || error.status >= 500);
}
