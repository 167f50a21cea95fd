/**
 * What an event of an organization's log is about. Two kinds play to nobody: `unknown`, which only a later version knows, and
 * `unplayable`, whose row in the store is not what its kind asks for.
 */
export type EventKind = "message" | "system" | "membership" | "session" | "unknown" | "unplayable";

/**
 * A place in a log: an offset, and the id of the event there. The offset alone proves nothing: after a failover another event may
 * stand there. At offset 0, before the first event, the id is `""`; it is `undefined` when it is not known.
 */
export type LogPlace = { offset: number; id: string | undefined };

/** The place before the first event; also the head of an organization that does not exist. */
export const logStart: LogPlace = { offset: 0, id: "" };

/** A stretch of a log, read in one statement. */
export type LogPage = {
  head: LogPlace;
  /** The id of the event at the offset that was read from; `undefined` when no event stands there, or none any more. */
  anchor: string | undefined;
  /** What follows it, in order. */
  events: LogEvent[];
};

/** An event as it stands in the log and travels between nodes. */
export type LogEvent = {
  org: string;
  /** 1, 2, 3 … within the organization, without holes, in the order of commits. */
  offset: number;
  kind: EventKind;
  /** UUIDv7, unique among all events. */
  id: string;
  cid: string | undefined;
  /** For `message` and `system` the exact JSON text that goes to the sockets; else a `MembershipChange` or `SessionEnd`. */
  payload: string;
  /** The recipients of a `system` event. */
  uids: string[] | undefined;
  /**
   * The id of the event before it, `""` for the first. Present only on events that come straight from their commit, and missing
   * when a version that does not record ids committed the one before.
   */
  prev?: string | undefined;
  /** Only on events that are on their way from their commit: those that are read from the store have none. */
  committed?: CommitMark | undefined;
};

/** Who committed an event, and when; by its steady clock, which only that node can compare, and by the time of day. */
export type CommitMark = {
  node: string;
  steadyMs: number;
  wallMs: number;
  /** Where its trace goes on, as a `traceparent`; absent where it is not traced. Recipients never see it. */
  trace?: string;
};

/** The payload of a `membership` event; its conversation is the event's `cid`. */
export type MembershipChange = { added: string[]; removed: string[] };

/** The payload of a `session` event: the connections of `uids` (all of the organization when absent) are closed. */
export type SessionEnd = {
  uids?: string[];
  /** Milliseconds; connections whose token was issued later stay open. */
  issuedBefore: number;
  /** Only the connections of the token with this `jti`. `issuedBefore` is then -1: a version that does not know this closes none. */
  token?: string;
};
