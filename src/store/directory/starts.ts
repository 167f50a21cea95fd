import type { LogTransaction } from "../log/log-writer.ts";

/** The offsets after which a user or a participant came: in the log, and in what is imported; NULL came before all of that. */
export type Start = { log_start: number; past_start: number | null };

/** Where those begin who come now. */
export function startIn({ heads, pastHead }: LogTransaction, org: string): { log_start: number; past_start: number } {
  return { log_start: heads.get(org) ?? 0, past_start: pastHead(org) };
}
