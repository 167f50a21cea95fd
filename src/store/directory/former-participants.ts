import { createId } from "../../lib/text/ids.ts";
import type { LogTransaction } from "../log/log-writer.ts";

/**
 * Keeps who was addressed by the events of conversations until now, for the recipients of each message: those who leave
 * now, and the offset from which each took part. Nothing of the transaction waits for it.
 */
export function keepFormer(
  { sql, heads }: Pick<LogTransaction, "sql" | "heads">,
  { org, now }: { org: string; now: number },
  leaving: readonly { cid: string; uid: string; log_start: number }[],
): void {
  const head = heads.get(org) ?? 0;
  const rows = leaving.map(({ cid, uid, log_start }) => {
    return { org, cid, uid, log_start: Number(log_start), log_end: head, id: createId(now) };
  });
  sql.lastly(sql.rows.insert("former_participant", rows, "skip"));
}
