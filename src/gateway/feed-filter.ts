import type { FeedFilter } from "../contract/feed.ts";
import type { LogEvent, MembershipChange } from "../contract/log-event.ts";

/** Says of each event of a log, taken in order, whether a feed shows it. */
export type EventFilter = (event: LogEvent) => boolean;

/** A filter that follows its user's conversations from `cids` on: it must be given the membership events, too. */
export function createEventFilter({ kind, cid, uid }: FeedFilter, cids: readonly string[]): EventFilter {
  const joined = new Set(cids);

  function follow({ cid = "", payload }: LogEvent, uid: string): void {
    const change: MembershipChange = JSON.parse(payload);
    if (change.added.includes(uid)) joined.add(cid);
    if (change.removed.includes(uid)) joined.delete(cid);
  }

  return (event) => {
    if (event.kind === "membership" && uid !== undefined) follow(event, uid);
    if (event.kind !== "message" && event.kind !== "system") return false;
    if (kind !== undefined && kind !== (event.kind === "message" ? "message" : "system_message")) return false;
    if (cid !== undefined && event.cid !== cid) return false;
    if (uid === undefined) return true;
    // Who sends a message takes part in its conversation; who sends a system message need not be among its users.
    return event.kind === "message"
      ? joined.has(event.cid ?? "")
      : event.uids?.includes(uid) === true || senderOf(event) === uid;
  };
}

function senderOf({ payload }: LogEvent): string {
  const event: { system_message: { from: string } } = JSON.parse(payload);
  return event.system_message.from;
}
