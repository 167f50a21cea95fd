import { isLiveOrganization } from "../directory/entity.ts";
import type { Reader, Row, SqlValue } from "../sql/driver.ts";
import { type ProposalReads, type ProposalState, proposals } from "./ports.ts";

const { columns, read } = proposals;

const find = `SELECT ${columns} FROM proposal WHERE org = ? AND id = ? AND ${isLiveOrganization("proposal.org")}`;

/** A page of rows of one organization, by time and id, that ends with the one that reaches a number of bytes. */
function pageOf(conditions: readonly string[]): string {
  const where = ["org = ?", ...conditions, "(expires_at, id) > (?, ?)"].join(" AND ");
  return `SELECT * FROM (
    SELECT page.*, SUM(bytes) OVER (ORDER BY expires_at, id) - bytes AS bytes_before, COUNT(*) OVER () AS found FROM (
      SELECT ${columns}, bytes FROM proposal WHERE ${where} ORDER BY expires_at, id LIMIT ?
    ) AS page
  ) AS page WHERE bytes_before < ? ORDER BY expires_at, id`;
}

/** The condition for a state at a time: those that wait have expired once their time is over. */
function inState(state: ProposalState | undefined, now: number): [conditions: string[], values: SqlValue[]] {
  if (state === undefined) return [[], []];
  if (state === "waiting") return [["state = 'waiting' AND expires_at > ?"], [now]];
  if (state === "expired") return [["state IN ('waiting', 'expired') AND expires_at <= ?"], [now]];
  return [["state = ?"], [state]];
}

/** Creates the reads of proposals. */
export function createProposalReads({ reader }: { reader: Reader }): ProposalReads {
  const readTime = `SELECT ${reader.dialect.now} AS now`;

  async function timeNow(): Promise<number> {
    const [time] = await reader.all<{ now: number }>(readTime);
    return Number(time?.now);
  }

  return {
    async find(org, id) {
      const [now, found] = await Promise.all([timeNow(), proposals.readFirst(reader.allOf(org, find, org, id))]);
      return { now, found };
    },
    async list(org, { state, keyId, after, limit, maxBytes }) {
      const now = await timeNow();
      const [conditions, values] = inState(state, now);
      if (keyId !== undefined) {
        conditions.push("key_id = ?");
        values.push(keyId);
      }
      const { expiresAt = Number.MIN_SAFE_INTEGER, id = "" } = after ?? {};
      const place = [expiresAt, id, limit + 1, maxBytes];
      const rows = await reader.allOf<Row>(org, pageOf(conditions), org, ...values, ...place);
      const items = rows.slice(0, limit).map(read);
      return { now, items, hasMore: Number(rows[0]?.found ?? 0) > items.length };
    },
  };
}
