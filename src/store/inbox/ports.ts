import type { LogPlace } from "../../contract/log/log-place.ts";
import type { TimedRange } from "../../lib/timed-ranges.ts";
import type { MissedEvent } from "../messages/ports.ts";

/** The offsets that a user has seen and read, and when, in milliseconds since the Unix epoch. */
export type Marks = { seen: TimedRange[]; read: TimedRange[] };

/** Nothing is seen or read. */
export const noMarks: Marks = { seen: [], read: [] };

/** Offsets after which to read an inbox: what was imported, and what was sent. */
export type InboxStart = { past: number; log: number };

/** Where an item lies, and whether it counts as unread nowhere. */
export type InboxOffset = { offset: number; isSilent: boolean };

/** A system message in an inbox: its place in the log, the id of the event there, its `_id`, and the bytes of its text. */
export type InboxPlace = { offset: number; id: string; mid: string; bytes: number };

/** The same, with the offset instead of its size after which nothing lies between it and the item before it in the inbox. */
export type InboxItemPlace = Omit<InboxPlace, "bytes"> & { before: number };

/** Reads what is in the inboxes of users at a time, in milliseconds since the Unix epoch: what is kept, and not replaced or recalled. */
export type InboxReads = {
  marks(org: string, uid: string): Promise<Marks>;
  /** Where the items after these offsets are, newest first, and which of them count as unread nowhere. */
  items(org: string, uid: string, of: { after: InboxStart; now: number }): Promise<InboxOffset[]>;
  /** The newest of them that lie before an offset. */
  newest(
    org: string,
    uid: string,
    of: { after: InboxStart; before: number; limit: number; now: number },
  ): Promise<InboxOffset[]>;
  /** How many items lie after these offsets, and how many of them, up to another offset, are not silent. */
  count(
    org: string,
    uid: string,
    of: { after: InboxStart; upTo: number; now: number },
  ): Promise<{ items: number; unsilent: number }>;
  /** The items at these offsets, newest first. */
  places(org: string, offsets: readonly number[]): Promise<InboxPlace[]>;
  /** The items among `ids`, newest first, of each `_id` that of every sender. */
  named(org: string, uid: string, ids: readonly string[], now: number): Promise<InboxItemPlace[]>;
};

/** Reads the kept system messages, and their recalls, that a user missed, as `MissedEvents` does for messages. */
export type MissedKept = {
  countMissedKept(
    org: string,
    uid: string,
    range: { after: number; upTo: number; now: number; limit: number },
  ): Promise<number>;
  readMissedKept(
    org: string,
    uid: string,
    range: { after: number; upTo: number; now: number; limit: number; maxBytes: number },
  ): Promise<MissedEvent[]>;
};

/** A user marks items as seen, or as read and so seen, too. */
export type NewMark = {
  org: string;
  uid: string;
  /** What is marked, newest first. */
  items: readonly InboxItemPlace[];
  /** Marks everything that was imported, or sent up to this place, of which `items` are those that were not marked. */
  upTo: LogPlace | undefined;
  seenOnly: boolean;
  now: number;
};

/** Marks items of inboxes. */
export type InboxWrites = {
  /**
   * Adds the marks in one commit, and tells each user's connections what is newly marked. An earlier mark keeps its time. Does nothing
   * if another event stands in the place of the newest item or at `upTo`, after a failover to a standby that lagged.
   */
  markAll(marks: NewMark[]): Promise<void>;
};
