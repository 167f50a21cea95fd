import type { MembershipChange } from "../contract/log-event.ts";
import { createId } from "../lib/ids.ts";
import type { LogTransaction } from "./log-writer.ts";

/** Which conversation's participants change, and when (milliseconds). */
export type MembershipOf = { org: string; cid: string; now: number };

/** Emits the event of a change of participants; nothing when nobody came or went. */
export function emitMembership(
  { emit }: LogTransaction,
  { org, cid, now }: MembershipOf,
  change: MembershipChange,
): void {
  if (change.added.length + change.removed.length === 0) return;
  emit({
    org,
    kind: "membership",
    id: createId(),
    cid,
    payload: JSON.stringify(change),
    uids: undefined,
    createdAt: now,
  });
}
