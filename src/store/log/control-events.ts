import type { MembershipChange, SessionEnd } from "../../contract/log/control-events.ts";
import type { EventKind } from "../../contract/log/log-event.ts";
import { createId } from "../../lib/text/ids.ts";
import type { LogTransaction } from "./log-writer.ts";

/**
 * A change of a conversation's participants: which conversation, when (milliseconds since the Unix epoch), and the
 * call, if it replaces all participants.
 */
export type MembershipOf = { org: string; cid: string; now: number; call?: string };

/** Updates the conversation's participant count and emits the change; does nothing if nobody joined or left. */
export async function recordMembership(
  transaction: LogTransaction,
  of: MembershipOf,
  change: MembershipChange,
): Promise<void> {
  const { added, removed } = change;
  if (added.length + removed.length === 0) return;
  const count = "UPDATE conversation SET participants = participants + CAST(? AS BIGINT) WHERE org = ? AND id = ?";
  await transaction.sql.run(count, added.length - removed.length, of.org, of.cid);
  emitMembership(transaction, of, change);
}

/**
 * Emits a change of participants, even an empty one: that tells concurrent replacements of the same set that another
 * call has begun.
 */
export function emitMembership(transaction: LogTransaction, of: MembershipOf, change: MembershipChange): void {
  emitControl(transaction, "membership", of, change);
}

/** Counts and emits that one user leaves any number of conversations: one statement, and one event per conversation. */
export async function recordLeaving(
  transaction: LogTransaction,
  { org, uid, cids, now }: { org: string; uid: string; cids: readonly string[]; now: number },
): Promise<void> {
  if (cids.length === 0) return;
  const count = `UPDATE conversation SET participants = participants - 1 WHERE org = ? AND id IN (${transaction.sql.dialect.givenTexts})`;
  await transaction.sql.run(count, org, JSON.stringify(cids));
  for (const cid of cids) emitControl(transaction, "membership", { org, cid, now }, { added: [], removed: [uid] });
}

/** All of a user's sessions, whenever their tokens were issued. */
export function allSessionsOf(uid: string): SessionEnd {
  return { uids: [uid], issuedBefore: Number.MAX_SAFE_INTEGER };
}

/** Emits the end of sessions. */
export function emitSessionEnd(
  transaction: LogTransaction,
  of: Pick<MembershipOf, "org" | "now">,
  end: SessionEnd,
): void {
  emitControl(transaction, "session", of, end);
}

function emitControl(
  { emit }: LogTransaction,
  kind: Extract<EventKind, "membership" | "session">,
  { org, cid, now, call: fingerprint }: Partial<MembershipOf> & Pick<MembershipOf, "org" | "now">,
  change: MembershipChange | SessionEnd,
): void {
  const payload = JSON.stringify(change);
  emit({ org, kind, id: createId(), cid, fingerprint, payload, uids: undefined, createdAt: now });
}
