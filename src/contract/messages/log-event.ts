/**
 * The kind of an event in an organization's log. Two kinds are delivered to nobody: `unknown`, a kind that a later version
 * introduced, and `unplayable`, an event whose stored row is not valid for its kind.
 */
export type EventKind = "message" | "system" | "membership" | "session" | "unknown" | "unplayable";

/**
 * A position in a log: an offset and the id of the event there. The offset alone is not enough, because a failover can put
 * another event at the same offset. At offset 0, before the first event, the id is `""`. An unknown id is `undefined`.
 */
export type LogPlace = { offset: number; id: string | undefined };

/** The position before the first event, and the head of an organization that does not exist. */
export const logStart: LogPlace = { offset: 0, id: "" };

/** A range of a log, read in one statement. */
export type LogPage = {
  head: LogPlace;
  /** The id of the event at the offset that the read started from; `undefined` if there is no event, or no longer one. */
  anchor: string | undefined;
  /** The events after that offset, in order. */
  events: LogEvent[];
};

/** An event as it is stored in the log and sent between nodes. */
export type LogEvent = {
  org: string;
  /** 1, 2, 3 … within the organization, without gaps, in commit order. */
  offset: number;
  kind: EventKind;
  /** UUIDv7, unique among all events. */
  id: string;
  cid: string | undefined;
  /** For `message` and `system`, the exact JSON text for the sockets; otherwise a `MembershipChange` or `SessionEnd`. */
  payload: string;
  /** The recipients of a `system` event. */
  uids: string[] | undefined;
  /**
   * The id of the previous event, `""` for the first. Present only on events that come straight from their commit, and absent
   * if the previous event was committed by a version that does not record ids.
   */
  prev?: string | undefined;
  /** Present only on events that come straight from their commit, not on those read from the store. */
  committed?: CommitMark | undefined;
};

/** The node that committed an event, and when: by its monotonic clock, which only that node can compare, and by wall time. */
export type CommitMark = {
  node: string;
  steadyMs: number;
  wallMs: number;
  /** The trace context, as a `traceparent`; absent if the event is not traced. Recipients never see it. */
  trace?: string;
};

/** The payload of a `membership` event. The event's `cid` is its conversation. */
export type MembershipChange = { added: string[]; removed: string[] };

/** The payload of a `session` event. It closes the connections of `uids`, or of the whole organization if `uids` is absent. */
export type SessionEnd = {
  uids?: string[];
  /** In milliseconds. Connections whose token was issued later stay open. */
  issuedBefore: number;
  /** Closes only the connections of the token with this `jti`. `issuedBefore` is then -1, so that older versions close none. */
  token?: string;
};
