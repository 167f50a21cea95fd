import { toIso } from "../../contract/identifiers.ts";
import type { ProposalWaiting } from "../../contract/webhooks/notices.ts";
import { requireKey } from "../keys/keys.ts";
import type { LogTransaction, LogWriter } from "../log/log-writer.ts";
import type { Decided } from "../schedule/ports.ts";
import { type Ended, sendEach } from "../schedule/sending.ts";
import type { Row } from "../sql/driver.ts";
import {
  type Decision,
  type DecisionOutcome,
  type NewProposal,
  type Proposal,
  type ProposalWrites,
  type ProposeOutcome,
  proposals,
} from "./ports.ts";

type Found = Row & { bytes: number; now: number };
type End = Pick<Proposal, "state"> & Partial<Pick<Proposal, "endedAt" | "serverMid" | "problem" | "tryId">>;

const { columns, read, write } = proposals;
const findAt = (now: string) => `SELECT ${columns}, bytes, ${now} AS now FROM proposal WHERE org = ? AND id = ?`;
const countWaiting = `SELECT COUNT(*) AS waiting FROM proposal WHERE org = ? AND state = 'waiting' AND expires_at > ?`;
const findOfSender = "SELECT id, bytes FROM proposal WHERE org = ? AND sender = ? ORDER BY id LIMIT ?";

/**
 * Creates the writes of proposals. All of them lock the organization first, so that of several decisions one comes first, and the
 * others find that nothing waits.
 */
export function createProposalWrites({ writer }: { writer: LogWriter }): ProposalWrites {
  return {
    put: (org, proposal, by) =>
      writer.transaction([org], async (transaction) => {
        const isThere = transaction.heads.has(org);
        const outcome: ProposeOutcome = isThere ? await putIn(transaction, org, proposal) : { outcome: "missing" };
        await requireKey(transaction.sql, by);
        return outcome;
      }),
    approve: (org, entry, decision, by) =>
      writer.change<DecisionOutcome, undefined>(org, undefined, async (transaction) => {
        const row = await findWaiting(transaction, org, entry.id);
        if (row === undefined) return undefined;
        const { end, isNew } = await sendOne(transaction, entry, decision.now);
        const proposal = await decide(transaction, { org, row, decision, end });
        await requireKey(transaction.sql, by);
        return { proposal, isNew };
      }),
    reject: (org, id, decision, by) =>
      writer.change<DecisionOutcome, undefined>(org, undefined, async (transaction) => {
        const row = await findWaiting(transaction, org, id);
        if (row === undefined) return undefined;
        const proposal = await decide(transaction, { org, row, decision, end: { state: "rejected" } });
        await requireKey(transaction.sql, by);
        return { proposal, isNew: false };
      }),
    removeSome: (org, { sender, limit }) =>
      writer.bulk(org, 0, async ({ sql, count }) => {
        const rows = await sql.all<{ id: string; bytes: number }>(findOfSender, org, sender, limit);
        for (const { bytes } of rows) count(org, -Number(bytes));
        const last = rows.at(-1);
        if (last === undefined) return 0;
        await sql.run("DELETE FROM proposal WHERE org = ? AND sender = ? AND id <= ?", org, sender, last.id);
        sql.forget();
        return rows.length;
      }),
  };
}

async function putIn(
  { sql, count, notify }: LogTransaction,
  org: string,
  { mostWaiting, cid, ...proposed }: NewProposal,
): Promise<ProposeOutcome> {
  const [row] = await sql.all<Found>(findAt(sql.dialect.now), org, proposed.id);
  if (row !== undefined) return { outcome: "found", proposal: read(row) };
  const [waiting] = await sql.all<{ waiting: number }>(countWaiting, org, proposed.createdAt);
  if (Number(waiting?.waiting ?? 0) >= mostWaiting) return { outcome: "too_many" };
  const bytes = Buffer.byteLength(proposed.request);
  const proposal: Proposal = {
    ...proposed,
    state: "waiting",
    decidedBy: null,
    decisionReason: null,
    endedAt: null,
    serverMid: null,
    problem: null,
    tryId: null,
  };
  count(org, bytes);
  notify(org, { type: "proposal.waiting", at: proposal.createdAt, data: () => noticeOf(proposal, cid ?? null) });
  sql.lastly(sql.rows.insert("proposal", [{ org, ...write(proposal), bytes }]));
  return { outcome: "done", proposal };
}

/** What webhooks are told: who and where, and nothing that it says. */
function noticeOf({ id, sender, keyId, expiresAt }: Proposal, cid: string | null): ProposalWaiting {
  return { proposal: { id, senderId: sender, cid, proposed_by: keyId, expires_at: toIso(expiresAt) } };
}

/** The row of a proposal that waits, and whose time is not over by the database's clock. */
async function findWaiting({ sql }: LogTransaction, org: string, id: string): Promise<Found | undefined> {
  const [row] = await sql.all<Found>(findAt(sql.dialect.now), org, id);
  return row?.state === "waiting" && Number(row.expires_at) > Number(row.now) ? row : undefined;
}

async function sendOne(
  transaction: LogTransaction,
  entry: Decided,
  now: number,
): Promise<{ end: End; isNew: boolean }> {
  const [ended] = await sendEach(transaction, [entry], now);
  if (ended === undefined) throw new Error("a proposal without an outcome");
  return { end: toEnd(ended), isNew: ended.settled.state === "sent" && ended.settled.isNew };
}

function toEnd({ settled, endedAt, serverMid, tryId }: Ended): End {
  if (settled.state === "sent") return { state: "approved", endedAt, serverMid, tryId };
  return { state: "failed", problem: JSON.stringify(settled.failure), tryId };
}

/** Notes a decision. The request goes: what was sent is in the log. */
async function decide(
  { sql, count }: LogTransaction,
  { org, row, decision, end }: { org: string; row: Found; decision: Decision; end: End },
): Promise<Proposal> {
  const { by: decidedBy, reason: decisionReason, now } = decision;
  const change = { request: null, decidedBy, decisionReason, endedAt: now, ...end };
  const decided = { ...read(row), ...change };
  count(org, -Number(row.bytes));
  await sql.rows.update("proposal", ["org", "id"], [{ org, id: decided.id, ...write(change), bytes: 0 }]);
  if (end.state !== "approved") sql.forget(); // what was sent is in the log
  return decided;
}
