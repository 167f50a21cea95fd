import type { Reader, Row } from "../sql/driver.ts";
import type { ScheduledSend, ScheduledState, ScheduleReads } from "./ports.ts";

/** A row of the table `scheduled_send`, without its organization. */
export type ScheduledRow = Row & {
  id: string;
  state: ScheduledState;
  send_at: number;
  request: string | null;
  fingerprint: string;
  revision: string;
  key_id: string;
  created_at: number;
  ended_at: number | null;
  server_mid: string | null;
  problem: string | null;
  try_id: string | null;
};

/** The columns of a `ScheduledRow`. */
export const scheduledColumns =
  "id, state, send_at, request, fingerprint, revision, key_id, created_at, ended_at, server_mid, problem, try_id";

type Counted = ScheduledRow & { found: number };

// The rows of a deleted organization stay for a while.
const find = `SELECT ${scheduledColumns} FROM scheduled_send WHERE org = ? AND id = ?
  AND EXISTS (SELECT 1 FROM organization o WHERE o.id = scheduled_send.org AND o.deleted_at IS NULL)`;
const findDueOrganizations = "SELECT org FROM schedule WHERE next_at <= ? ORDER BY next_at, org LIMIT ?";
const findDue = pageOf("state = 'waiting' AND send_at <= ?");

/** A page of rows of one organization, by time and id, that ends with the one that reaches a number of bytes. */
function pageOf(condition: string): string {
  return `SELECT * FROM (
    SELECT page.*, SUM(bytes) OVER (ORDER BY send_at, id) - bytes AS bytes_before, COUNT(*) OVER () AS found FROM (
      SELECT ${scheduledColumns}, COALESCE(OCTET_LENGTH(request), 0) AS bytes FROM scheduled_send
      WHERE org = ? AND ${condition} ORDER BY send_at, id LIMIT ?
    ) AS page
  ) AS page WHERE bytes_before < ? ORDER BY send_at, id`;
}

/** Creates the reads of scheduled sends. */
export function createScheduleReads({ reader }: { reader: Reader }): ScheduleReads {
  const { readTime } = reader.dialect;
  const findNext = `SELECT clock.now AS now, (SELECT MIN(next_at) FROM schedule) AS next_at FROM (${readTime}) AS clock`;
  const findBacklog = `SELECT clock.now AS now, MIN(next_at) AS next_at, COALESCE(SUM(waiting), 0) AS waiting
    FROM (${readTime}) AS clock LEFT JOIN schedule ON TRUE GROUP BY clock.now`;

  return {
    async find(org, id) {
      const [[time], [row]] = await Promise.all([
        reader.all<{ now: number }>(readTime),
        reader.allOf<ScheduledRow>(org, find, org, id),
      ]);
      return { now: Number(time?.now), found: row && toScheduledSend(row) };
    },
    async list(org, { state, after, limit, maxBytes }) {
      const { sendAt = Number.MIN_SAFE_INTEGER, id = "" } = after ?? {};
      const place = [sendAt, id, limit + 1, maxBytes];
      const rows =
        state === undefined
          ? await reader.allOf<Counted>(org, pageOf("(send_at, id) > (?, ?)"), org, ...place)
          : await reader.allOf<Counted>(org, pageOf("state = ? AND (send_at, id) > (?, ?)"), org, state, ...place);
      const items = rows.slice(0, limit).map(toScheduledSend);
      return { items, hasMore: Number(rows[0]?.found ?? 0) > items.length };
    },
    async next() {
      const [row] = await reader.all<{ now: number; next_at: number | null }>(findNext);
      return { now: Number(row?.now), nextAt: row?.next_at == null ? undefined : Number(row.next_at) };
    },
    async dueOrganizations(now, limit) {
      return (await reader.all<{ org: string }>(findDueOrganizations, now, limit)).map(({ org }) => org);
    },
    async due(org, now, { limit, maxBytes }) {
      return (await reader.allOf<ScheduledRow>(org, findDue, org, now, limit, maxBytes)).map(toScheduledSend);
    },
    async backlog() {
      type Found = { now: number; next_at: number | null; waiting: number };
      const [row] = await reader.all<Found>(findBacklog);
      const overdueMs = row?.next_at == null ? 0 : Math.max(0, Number(row.now) - Number(row.next_at));
      return { waiting: Number(row?.waiting ?? 0), overdueMs };
    },
  };
}

/** The scheduled send of a row. */
export function toScheduledSend(row: ScheduledRow): ScheduledSend {
  return {
    id: row.id,
    state: row.state,
    sendAt: Number(row.send_at),
    request: row.request,
    fingerprint: row.fingerprint,
    revision: row.revision,
    keyId: row.key_id,
    createdAt: Number(row.created_at),
    endedAt: row.ended_at === null ? null : Number(row.ended_at),
    serverMid: row.server_mid,
    problem: row.problem,
    tryId: row.try_id,
  };
}
