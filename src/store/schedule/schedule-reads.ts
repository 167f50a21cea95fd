import { isLiveOrganization } from "../directory/entity.ts";
import type { Reader, Row } from "../sql/driver.ts";
import { type ScheduleReads, scheduledSends } from "./ports.ts";

const { columns, read } = scheduledSends;

const find = `SELECT ${columns} FROM scheduled_send WHERE org = ? AND id = ? AND ${isLiveOrganization("scheduled_send.org")}`;
const findDueOrganizations = "SELECT org FROM schedule WHERE next_at <= ? ORDER BY next_at, org LIMIT ?";
const findDue = pageOf("state = 'waiting' AND send_at <= ?");

/** A page of rows of one organization, by time and id, that ends with the one that reaches a number of bytes. */
function pageOf(condition: string): string {
  return `SELECT * FROM (
    SELECT page.*, SUM(bytes) OVER (ORDER BY send_at, id) - bytes AS bytes_before, COUNT(*) OVER () AS found FROM (
      SELECT ${columns}, COALESCE(OCTET_LENGTH(request), 0) AS bytes FROM scheduled_send
      WHERE org = ? AND ${condition} ORDER BY send_at, id LIMIT ?
    ) AS page
  ) AS page WHERE bytes_before < ? ORDER BY send_at, id`;
}

/** Creates the reads of scheduled sends. */
export function createScheduleReads({ reader }: { reader: Reader }): ScheduleReads {
  const readTime = `SELECT ${reader.dialect.now} AS now`;
  const findNext = `SELECT clock.now AS now, (SELECT MIN(next_at) FROM schedule) AS next_at FROM (${readTime}) AS clock`;
  const findBacklog = `SELECT clock.now AS now, MIN(next_at) AS next_at, COALESCE(SUM(waiting), 0) AS waiting
    FROM (${readTime}) AS clock LEFT JOIN schedule ON TRUE GROUP BY clock.now`;

  return {
    async find(org, id) {
      const [[time], found] = await Promise.all([
        reader.all<{ now: number }>(readTime),
        scheduledSends.readFirst(reader.allOf(org, find, org, id)),
      ]);
      return { now: Number(time?.now), found };
    },
    async list(org, { state, after, limit, maxBytes }) {
      const { sendAt = Number.MIN_SAFE_INTEGER, id = "" } = after ?? {};
      const place = [sendAt, id, limit + 1, maxBytes];
      const rows =
        state === undefined
          ? await reader.allOf<Row>(org, pageOf("(send_at, id) > (?, ?)"), org, ...place)
          : await reader.allOf<Row>(org, pageOf("state = ? AND (send_at, id) > (?, ?)"), org, state, ...place);
      const items = rows.slice(0, limit).map(read);
      return { items, hasMore: Number(rows[0]?.found ?? 0) > items.length };
    },
    async next() {
      const [row] = await reader.all<{ now: number; next_at: number | null }>(findNext);
      return { now: Number(row?.now), nextAt: row?.next_at == null ? undefined : Number(row.next_at) };
    },
    dueOrganizations: async (now, limit) =>
      (await reader.all<{ org: string }>(findDueOrganizations, now, limit)).map(({ org }) => org),
    due: (org, now, { limit, maxBytes }) =>
      scheduledSends.readAll(reader.allOf(org, findDue, org, now, limit, maxBytes)),
    async backlog() {
      type Found = { now: number; next_at: number | null; waiting: number };
      const [row] = await reader.all<Found>(findBacklog);
      const overdueMs = row?.next_at == null ? 0 : Math.max(0, Number(row.now) - Number(row.next_at));
      return { waiting: Number(row?.waiting ?? 0), overdueMs };
    },
  };
}
