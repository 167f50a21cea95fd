import { HeraldError } from "../../contract/errors/errors.ts";
import { requireKey } from "../keys/keys.ts";
import type { LogTransaction, LogWriter } from "../log/log-writer.ts";
import type { Row, Transaction } from "../sql/driver.ts";
import {
  type DueSend,
  type FailedSend,
  type Failure,
  type NewScheduledSend,
  type ScheduledSend,
  type ScheduledState,
  type ScheduleOutcome,
  type ScheduleWrites,
  type Settled,
  type Settlement,
  scheduledSends,
} from "./ports.ts";
import { sendEach } from "./sending.ts";

type Found = Row & {
  id: string;
  state: ScheduledState;
  revision: string;
  created_at: number;
  bytes: number;
  send_at: number;
};

const find = `SELECT ${scheduledSends.columns}, bytes FROM scheduled_send WHERE org = ? AND id = ?`;
const cancelOne = `UPDATE scheduled_send SET state = 'cancelled', request = NULL, bytes = 0, ended_at = ?
  WHERE org = ? AND id = ?`;
const findOfSender = `SELECT id, bytes FROM scheduled_send WHERE org = ? AND sender = ? AND state = 'waiting'
  ORDER BY id LIMIT ?`;
const findSchedule = "SELECT waiting FROM schedule WHERE org = ?";
const findFirst = "SELECT MIN(send_at) AS first FROM scheduled_send WHERE org = ? AND state = 'waiting'";
// An organization that a node has to look at already keeps its place.
const addToSchedule = `INSERT INTO schedule (org, next_at, waiting) VALUES (?, ?, ?)
  ON CONFLICT (org) DO UPDATE SET waiting = schedule.waiting + excluded.waiting,
    next_at = CASE WHEN excluded.next_at < schedule.next_at THEN excluded.next_at ELSE schedule.next_at END`;
const takeOffSchedule = "UPDATE schedule SET waiting = waiting - ? WHERE org = ?";

/**
 * Creates the writes of scheduled sends. All of them lock the organization first, so that a cancellation and the sending,
 * or two nodes that send, come one after the other.
 */
export function createScheduleWrites({ writer }: { writer: LogWriter }): ScheduleWrites {
  async function settleAll(org: string, settlement: Settlement): Promise<Settled[]> {
    const turn = { of: org, isBulk: true } as const;
    return await writer.transaction([org], (transaction) => settleIn(transaction, org, settlement), turn);
  }

  /** Marks a send as failed for an error that nobody expects, as it would fail each time and hold up the others. */
  async function settleAlone(org: string, settlement: Settlement, entry: DueSend): Promise<Settled[]> {
    try {
      return await settleAll(org, { ...settlement, entries: [entry] });
    } catch (error) {
      if (error instanceof HeraldError) throw error;
      const { id, revision, tryId } = entry;
      const failure: Failure = { outcome: "error", code: "internal", detail: "", fields: [] };
      const failed = await settleAll(org, { ...settlement, entries: [{ id, revision, tryId, failure }] });
      return failed.map((one) => ({ ...one, error }));
    }
  }

  return {
    put: (org, send, by) =>
      writer.transaction([org], async (transaction) => {
        const isThere = transaction.heads.has(org);
        const outcome: ScheduleOutcome = isThere ? await putIn(transaction, org, send) : { outcome: "missing" };
        await requireKey(transaction.sql, by);
        return outcome;
      }),
    cancel: (org, id, { revision, now }) =>
      writer.change(org, false, async ({ sql, count }) => {
        const [row] = await sql.all<Found>(find, org, id);
        if (row?.state !== "waiting" || row.revision !== revision) return false;
        await sql.run(cancelOne, now, org, id);
        count(org, -Number(row.bytes));
        await sql.run(takeOffSchedule, 1, org); // the next look finds out that it has nothing to do
        sql.forget();
        return true;
      }),
    cancelSome: (org, { sender, now, limit }) =>
      writer.bulk(org, 0, async ({ sql, count }) => {
        const rows = await sql.all<{ id: string; bytes: number }>(findOfSender, org, sender, limit);
        if (rows.length === 0) return 0;
        const ended = { org, state: "cancelled", request: null, bytes: 0, ended_at: now };
        const cancelled = rows.map(({ id }) => ({ ...ended, id }));
        for (const { bytes } of rows) count(org, -Number(bytes));
        await Promise.all([
          sql.rows.update("scheduled_send", ["org", "id"], cancelled),
          sql.run(takeOffSchedule, rows.length, org),
        ]);
        sql.forget();
        return rows.length;
      }),
    async settle(org, settlement) {
      try {
        return await settleAll(org, settlement);
      } catch (error) {
        if (error instanceof HeraldError) throw error;
        const settled: Settled[] = [];
        for (const entry of settlement.entries) settled.push(...(await settleAlone(org, settlement, entry)));
        return settled;
      }
    },
  };
}

async function putIn(
  { sql, count }: LogTransaction,
  org: string,
  { id, sendAt, request, sender, fingerprint, revision, keyId, now, replaces, mostWaiting }: NewScheduledSend,
): Promise<ScheduleOutcome> {
  const [row] = await sql.all<Found>(find, org, id);
  if (row?.revision !== replaces || (row !== undefined && row.state !== "waiting")) return { outcome: "changed" };
  const isNew = row === undefined;
  if (isNew) {
    const [schedule] = await sql.all<{ waiting: number }>(findSchedule, org);
    if (Number(schedule?.waiting ?? 0) >= mostWaiting) return { outcome: "too_many" };
  }
  const bytes = Buffer.byteLength(request);
  const stored: ScheduledSend = {
    id,
    state: "waiting",
    sendAt,
    request,
    fingerprint,
    revision,
    keyId,
    createdAt: isNew ? now : Number(row.created_at),
    endedAt: null,
    serverMid: null,
    problem: null,
    tryId: null,
  };
  const rows = [{ org, ...scheduledSends.write(stored), sender, bytes }];
  count(org, bytes - Number(row?.bytes ?? 0));
  sql.lastly(
    Promise.all([
      isNew ? sql.rows.insert("scheduled_send", rows) : sql.rows.update("scheduled_send", ["org", "id"], rows),
      sql.run(addToSchedule, org, sendAt, isNew ? 1 : 0),
    ]),
  );
  return { outcome: "done", send: stored };
}

async function settleIn(
  transaction: LogTransaction,
  org: string,
  { now, entries, notBefore }: Settlement,
): Promise<Settled[]> {
  const { sql, heads, count, notify } = transaction;
  if (!heads.has(org)) {
    await sql.run("DELETE FROM schedule WHERE org = ?", org); // its sends go with the rest of the organization
    return entries.map(({ id }) => ({ id, state: "over" }));
  }
  const keys = entries.map(({ id }) => ({ org, id }));
  const rows = await sql.rows.find<Found>("scheduled_send", ["id", "state", "revision", "bytes", "send_at"], keys);
  const found = new Map(rows.map((row) => [row.id, row]));
  const live = entries.filter(({ id, revision }) => {
    const row = found.get(id);
    return row?.state === "waiting" && row.revision === revision;
  });
  const ended = await sendEach(transaction, live, now);
  for (const { tryId, settled } of ended) {
    if (settled.state !== "failed") continue;
    const { id, failure } = settled;
    const data = (): FailedSend => ({ id, sendAt: Number(found.get(id)?.send_at ?? now), tryId, failure });
    notify(org, { type: "scheduled.failed", at: now, data });
  }
  for (const { id } of live) count(org, -Number(found.get(id)?.bytes ?? 0));
  const updates = ended.map(({ settled, endedAt, serverMid, tryId }) => ({
    org,
    id: settled.id,
    state: settled.state,
    request: null,
    bytes: 0,
    ended_at: endedAt,
    server_mid: serverMid,
    problem: settled.state === "failed" ? JSON.stringify(settled.failure) : null,
    try_id: tryId,
  }));
  await sql.rows.update("scheduled_send", ["org", "id"], updates);
  if (ended.some(({ settled }) => settled.state === "failed")) sql.forget(); // what was sent is in the log
  await reschedule(sql, org, { now, ended: live.length, notBefore });
  const settled = new Map(ended.map((one) => [one.settled.id, one.settled]));
  return entries.map(({ id }) => settled.get(id) ?? { id, state: "over" });
}

/** Notes when the organization must be looked at next. What is due already goes behind others that are. */
async function reschedule(
  sql: Transaction,
  org: string,
  { now, ended, notBefore = 0 }: { now: number; ended: number; notBefore: number | undefined },
): Promise<void> {
  const [row] = await sql.all<{ first: number | null }>(findFirst, org);
  if (row?.first == null) await sql.run("DELETE FROM schedule WHERE org = ?", org);
  else {
    const nextAt = Math.max(Number(row.first), now, notBefore);
    await sql.run("UPDATE schedule SET next_at = ?, waiting = waiting - ? WHERE org = ?", nextAt, ended, org);
  }
}
