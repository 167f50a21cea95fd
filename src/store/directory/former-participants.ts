import { createId } from "../../lib/text/ids.ts";
import type { LogTransaction } from "../log/log-writer.ts";
import { beginning } from "../log/past.ts";
import type { Start } from "./starts.ts";

/**
 * Keeps who was addressed by the events of conversations until now, for the recipients of each message and for inboxes: those who
 * leave now, and the offset from which each took part; what was imported has a row of its own. Nothing of the transaction waits for it.
 */
export function keepFormer(
  { sql, heads, pastHead }: LogTransaction,
  { org, now }: { org: string; now: number },
  leaving: readonly ({ cid: string; uid: string } & Start)[],
): void {
  const ends = { log: heads.get(org) ?? 0, past: pastHead(org) };
  const rows = leaving.flatMap(({ cid, uid, log_start, past_start }) => {
    const row = (start: number, log_end: number) => ({ org, cid, uid, log_start: start, log_end, id: createId(now) });
    const past = Number(past_start ?? beginning);
    return [row(Number(log_start), ends.log), ...(past < ends.past ? [row(past, ends.past)] : [])];
  });
  sql.lastly(sql.rows.insert("former_participant", rows, "skip"));
}
