import type { LogTransaction } from "../log/log-writer.ts";

/** Removes what says who has hidden messages. */
export async function forgetHidings(
  { sql }: LogTransaction,
  org: string,
  messages: readonly { cid: string | null; offset: number }[],
): Promise<void> {
  const remove = `DELETE FROM hidden_message WHERE org = ? AND cid = ? AND "offset" IN (${sql.dialect.givenNumbers})`;
  for (const [cid, ones] of Map.groupBy(messages, (message) => message.cid))
    if (cid !== null) await sql.run(remove, org, cid, JSON.stringify(ones.map(({ offset }) => Number(offset))));
}

/** Removes the first of what a user has hidden, and returns their number. */
export async function removeHidingsOf(
  { sql }: LogTransaction,
  { org, uid }: { org: string; uid: string },
  limit: number,
): Promise<number> {
  const first = `SELECT cid, "offset" FROM hidden_message WHERE org = ? AND uid = ? ORDER BY cid, "offset" LIMIT ?`;
  const remove = `DELETE FROM hidden_message WHERE org = ? AND uid = ? AND (cid, "offset") IN (${first})`;
  return await sql.run(remove, org, uid, org, uid, limit);
}
