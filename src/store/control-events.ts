import type { EventKind, MembershipChange, SessionEnd } from "../contract/log-event.ts";
import { createId } from "../lib/ids.ts";
import type { LogTransaction } from "./log-writer.ts";

/** Which conversation's participants change, and when (milliseconds). */
export type MembershipOf = { org: string; cid: string; now: number };

/** Emits the event of a change of participants; nothing when nobody came or went. */
export function emitMembership(transaction: LogTransaction, of: MembershipOf, change: MembershipChange): void {
  if (change.added.length + change.removed.length > 0) emitControl(transaction, "membership", of, change);
}

/** Emits the end of sessions whose token was issued up to `now`: of `uids`, or without them of all of the organization. */
export function emitSessionEnd(transaction: LogTransaction, of: { org: string; now: number }, uids?: string[]): void {
  const end: SessionEnd = { ...(uids !== undefined && { uids }), issuedBefore: of.now };
  emitControl(transaction, "session", { ...of, cid: undefined }, end);
}

function emitControl(
  { emit }: LogTransaction,
  kind: Extract<EventKind, "membership" | "session">,
  { org, cid, now }: { org: string; cid: string | undefined; now: number },
  payload: MembershipChange | SessionEnd,
): void {
  emit({ org, kind, id: createId(), cid, payload: JSON.stringify(payload), uids: undefined, createdAt: now });
}
