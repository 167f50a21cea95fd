import { type MembershipOf, recordMembership } from "../log/control-events.ts";
import type { LogTransaction } from "../log/log-writer.ts";
import type { Dialect } from "../sql/dialect.ts";
import type { SqlValue } from "../sql/driver.ts";
import { keepFormer } from "./former-participants.ts";
import { ensureUsers } from "./users.ts";

/** The uids after `after`, up to and including `upTo`. */
type UidRange = { after: string; upTo: string };

type Left = { uid: string; log_start: number };

type Change = {
  uids?: string[];
  leaving?: UidRange | undefined;
  kept?: string[];
  /** Whether nobody will ask who took part, as the conversation is being deleted. */
  isForgotten?: boolean;
};

/** Creates the functions that change participants, for use in a transaction that has locked the organization. */
export function createMembership(dialect: Dialect) {
  const textsOf = dialect.textsOf("?");
  const readPage = "SELECT uid FROM participant WHERE org = ? AND cid = ? AND uid > ? ORDER BY uid LIMIT ?";
  const join = `INSERT INTO participant (org, cid, uid, created_at, log_start)
    SELECT ?, ?, uid.value, CAST(? AS BIGINT), CAST(? AS BIGINT) FROM (${textsOf}) AS uid WHERE true
    ON CONFLICT DO NOTHING RETURNING uid`;
  // Deletes by range, which uses the index. With `uid IN (…)`, PostgreSQL may scan all participants and compare every
  // pair.
  const leave = `DELETE FROM participant
    WHERE org = ? AND cid = ? AND uid > ? AND uid <= ? AND uid NOT IN (${textsOf}) RETURNING uid, log_start`;

  async function uidsOf({ sql }: LogTransaction, text: string, ...values: SqlValue[]): Promise<string[]> {
    return (await sql.all<{ uid: string }>(text, ...values)).map(({ uid }) => uid);
  }

  return {
    /** The first participants after `after`, in order. */
    page: (transaction: LogTransaction, { org, cid }: MembershipOf, after: string, limit: number) =>
      uidsOf(transaction, readPage, org, cid, after, limit),
    /** Removes the participants in a range except `kept`, adds those of `uids` who are missing, and emits one event. */
    async change(
      transaction: LogTransaction,
      of: MembershipOf,
      { uids = [], leaving, kept = [], isForgotten = false }: Change,
    ): Promise<void> {
      const { sql, heads } = transaction;
      const { org, cid, now } = of;
      const head = heads.get(org) ?? 0;
      const left =
        leaving === undefined
          ? []
          : await sql.all<Left>(leave, org, cid, leaving.after, leaving.upTo, JSON.stringify(kept));
      const former = isForgotten ? [] : left.map((row) => ({ ...row, cid }));
      keepFormer(transaction, of, former);
      const removed = left.map(({ uid }) => uid);
      const added = uids.length === 0 ? [] : await uidsOf(transaction, join, org, cid, now, head, JSON.stringify(uids));
      await ensureUsers(sql, { org, uids: added, head, now });
      await recordMembership(transaction, of, { added, removed });
    },
  };
}
