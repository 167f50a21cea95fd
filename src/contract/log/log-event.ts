const knownKinds = [
  "message",
  "system",
  "membership",
  "session",
  "edit",
  "recall",
  "system_recall",
  "read",
  "system_read",
  "reaction",
  "hide",
  "append",
] as const;

/**
 * The kind of an event in an organization's log. Three kinds are delivered to nobody: `blank`, a message or system message
 * that was taken back, or an edit that a later one replaced; `unknown`, a kind that a later version introduced; and
 * `unplayable`, an event whose stored row is not valid for its kind.
 */
export type EventKind = (typeof knownKinds)[number] | "blank" | "unknown" | "unplayable";

const kinds: ReadonlySet<string> = new Set(knownKinds);

/** The kind with this name, from the store or a hint; `unknown` for one that a later version introduced. */
export function kindOf(name: string): EventKind {
  return isKind(name) ? name : "unknown";
}

function isKind(name: string): name is EventKind {
  return kinds.has(name);
}

/** An event as it is stored in the log and sent between nodes. */
export type LogEvent = {
  org: string;
  /** 1, 2, 3 … within the organization, without gaps, in commit order. */
  offset: number;
  kind: EventKind;
  /** UUIDv7, unique among all events. */
  id: string;
  cid: string | undefined;
  /**
   * For `membership` a `MembershipChange`, for `session` a `SessionEnd`, for `blank` nothing; otherwise the exact JSON text for
   * the sockets.
   */
  payload: string;
  /**
   * The recipients of a `system` or `system_recall` event that names them, empty for one that names none (`addressOf`); of a
   * `read` event the author whose messages were read, of a `system_read` event the user who has read system messages; of a `hide` event the user who has hidden messages.
   */
  uids: string[] | undefined;
  /**
   * When a message or system message, or an edit of one, ends, in milliseconds since the Unix epoch by the database's clock: it is
   * delivered to nobody from then on. Absent for all others.
   */
  expiresAt?: number | undefined;
  /** A message that grows: reports tell of the delivery of its last piece. */
  isOpen?: true | undefined;
  /** Of the last piece of a message: the offset of that message, which everyone has who gets this. */
  completes?: number | undefined;
  /**
   * The id of the previous event, `""` for the first. Present only on events that come straight from their commit, and absent
   * if the previous event was committed by a version that does not record ids.
   */
  prev?: string | undefined;
  /** Present only on events that come straight from their commit, not on those read from the store. */
  committed?: CommitMark | undefined;
};

/** Whether an event has expired at a time of the database's clock, in milliseconds since the Unix epoch. */
export function hasExpired({ expiresAt }: Pick<LogEvent, "expiresAt">, now: number): boolean {
  return expiresAt !== undefined && expiresAt <= now;
}

/**
 * Whom a `system` event goes to, and the recall of system messages: the users in `uids`, or with an empty list the participants
 * of its conversation `cid` or, without `cid`, all users of the organization. An event without the list goes to nobody: a lost value must not
 * make its content known to everyone. Versions that know only lists deliver an empty one to nobody.
 */
export function addressOf({ cid, uids }: Pick<LogEvent, "cid" | "uids">): "users" | "conversation" | "everyone" {
  if (uids === undefined || uids.length > 0) return "users";
  return cid === undefined ? "everyone" : "conversation";
}

/** The node that committed an event, and when: by its monotonic clock, which only that node can compare, and by wall time. */
export type CommitMark = {
  node: string;
  steadyMs: number;
  wallMs: number;
  /** The trace context, as a `traceparent`; absent if the event is not traced. Recipients never see it. */
  trace?: string;
};
