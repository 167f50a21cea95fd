import { eventNameOf } from "../../contract/connections/event-names.ts";
import type { FeedFilter } from "../../contract/connections/feed.ts";
import type { LogEvent } from "../../contract/log/log-event.ts";
import { type EventFacts, isAddressed } from "../fanout/event-facts.ts";

/** Decides for each event of a log, taken in order, whether a feed shows it. */
export type EventFilter = (event: LogEvent) => boolean;

/**
 * Creates a filter that follows the user's conversations, starting from `cids`; it must be given the membership events,
 * too.
 */
export function createEventFilter(
  { kind, types, cid, uid }: FeedFilter,
  cids: readonly string[],
  facts: Pick<EventFacts, "follow" | "systemOf" | "readOf">,
): EventFilter {
  const joined = new Set(cids);

  return (event) => {
    if (event.kind === "membership" && uid !== undefined) facts.follow(event, uid, joined);
    if (event.kind === "hide") return false; // consumers that keep a copy of messages would take them for taken back
    const name = eventNameOf(event.kind);
    if (name === undefined || (kind !== undefined && kind !== name) || types?.includes(name) === false) return false;
    if (event.kind === "system_read")
      return cid === undefined && (uid === undefined || event.uids?.includes(uid) === true);
    if (event.kind === "read") {
      const { reader, author, cid: ofRead } = facts.readOf(event);
      return (cid === undefined || cid === ofRead) && (uid === undefined || uid === reader || uid === author);
    }
    if (cid !== undefined && event.cid !== cid) return false;
    if (uid === undefined) return true;
    // The sender of a message, and who edits it or takes it back, takes part in its conversation; the sender of a system
    // message need not be among its recipients.
    if (event.kind !== "system" && event.kind !== "system_recall") return joined.has(event.cid ?? "");
    const { sender, recipients } = facts.systemOf(event);
    return sender === uid || isAddressed(event, joined, () => recipients.has(uid));
  };
}
