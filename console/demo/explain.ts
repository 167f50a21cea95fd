import { HeraldApiError } from "../../sdk/errors.ts";

/** What went wrong with a call, and what a person can do about it. */
export function explain(error: unknown): string {
  if (!(error instanceof HeraldApiError)) return error instanceof Error ? error.message : String(error);
  const explanations: Record<string, string> = {
    unauthorized: "The server refuses this key. Copy the whole line of the file.",
    insufficient_scope: `${error.detail}. The key in the file may do everything.`,
    organization_forbidden: "This key is for another organization than `demo`.",
    organization_not_found:
      "There is no demo organization: HERALD_DEMO=1 makes it in an empty database. Start with another HERALD_DATA_DIR.",
    conversation_not_found: "The demo's conversation `welcome` was deleted. Start with another HERALD_DATA_DIR.",
    unreachable: "The server does not answer. Is it still running?",
  };
  return explanations[error.code] ?? error.message;
}

/** Whether it only says that there is no connection, which the state of the connection says already. */
export function isAbsence(error: unknown): boolean {
  return error instanceof HeraldApiError && error.status === 0;
}
