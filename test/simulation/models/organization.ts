import type { MembershipChange } from "../../../src/contract/log/control-events.ts";
import type { LogEvent } from "../../../src/contract/log/log-event.ts";
import { type LogPlace, logStart } from "../../../src/contract/log/log-place.ts";
import { createQueue, type Queue } from "../../../src/lib/queues/queue.ts";
import type { Marks } from "../../../src/store/inbox/ports.ts";
import { placeKey } from "../../../src/store/reads/read-plan.ts";
import type { Change } from "./changes.ts";

/** A read mark that moves to an offset: whose, and in which conversation. */
export type Move = { cid: string; uid: string; read_to: number };

/** The marks that a user's inbox has from a commit on. */
export type MarkedInbox = { uid: string; marks: Marks };

/**
 * A logged event, the change that it tells, when it was committed (milliseconds), its membership change, if it is one, and
 * the read marks and the marks of inboxes that changed in its commit.
 */
export type Commit = {
  event: LogEvent;
  told: Change | undefined;
  at: number;
  change: MembershipChange | undefined;
  moves: readonly Move[];
  marked: readonly MarkedInbox[];
};

/**
 * The text of a message or system message: where its row is, what it says since its last edit, where that is told, when it expires,
 * whether it has ended, and whether it ended because it expired.
 */
export type Text = {
  kind: "message" | "system";
  offset: number;
  cid: string;
  payload: string | undefined;
  edit: number | undefined;
  expiresAt: number | undefined;
  isRecalled: boolean;
  hasExpired: boolean;
};

/** A log up to the failover that lost its end. Its events up to `keptUpTo` are also in the log that continued. */
export type LostLife = {
  readonly commits: readonly (Commit | undefined)[];
  readonly validAfter: ReadonlyMap<string, number>;
  readonly blankedAt: ReadonlyMap<number, number>;
  readonly keptUpTo: number;
  readonly endedAt: number;
};

/** When a user took part in a conversation: what lies after one offset, up to another, was addressed to them. */
export type Stay = { cid: string; uid: string; after: number; upTo: number };

/** A kept system message, or the recall of one, in the inboxes of those at a place. It shows nothing without `mid`. */
export type InboxRow = {
  place: string;
  offset: number;
  mid: string | undefined;
  senderKey: string | undefined;
  isSilent: boolean;
  keptUntil: number;
  expiresAt: number | undefined;
};

/** One organization in the database: its log, and what follows from it. */
export type Organization = {
  readonly id: string;
  head: number;
  /** The last offset assigned, even to a transaction that has not committed. */
  givenOut: number;
  purgedUpTo: number;
  /** By offset. Purged ones are visible only to the judge. */
  readonly commits: (Commit | undefined)[];
  readonly lost: LostLife[];
  readonly participants: Map<string, Set<string>>;
  /** Up to which offset each participant has read, by `markKey`. */
  readonly marks: Map<string, number>;
  /** The texts of messages and system messages, by id. */
  readonly texts: Map<string, Text>;
  /** When events lost their texts, by offset. */
  readonly blankedAt: Map<number, number>;
  /** Tokens of a user issued up to this time are refused. */
  readonly validAfter: Map<string, number>;
  /** What is kept in inboxes, in the order of the log. */
  inboxRows: InboxRow[];
  readonly stays: Stay[];
  /** By user. */
  readonly inboxMarks: Map<string, Marks>;
  readonly lock: Queue;
};

/** Creates an organization without events. */
export function createOrganization(id: string): Organization {
  return {
    id,
    head: 0,
    givenOut: 0,
    purgedUpTo: 0,
    commits: [],
    lost: [],
    participants: new Map(),
    marks: new Map(),
    texts: new Map(),
    blankedAt: new Map(),
    validAfter: new Map(),
    inboxRows: [],
    stays: [],
    inboxMarks: new Map(),
    lock: createQueue(() => new Error("a lock is never closed")),
  };
}

/** Forgets what follows from the log, which is followed again after that. */
export function forgetWhatFollows(organization: Organization): void {
  const { participants, marks, texts, blankedAt, validAfter, inboxRows, stays, inboxMarks } = organization;
  for (const one of [participants, marks, texts, blankedAt, validAfter, inboxMarks]) one.clear();
  for (const one of [inboxRows, stays]) one.length = 0;
}

/** The key of a participant's mark. */
export const markKey = (org: string, { cid, uid }: Pick<Move, "cid" | "uid">) => placeKey({ org, cid, uid });

/** Where the log ends. */
export function headOf({ head, commits }: Organization): LogPlace {
  return head === 0 ? logStart : { offset: head, id: commits[head]?.event.id };
}

/** An event as its row is now: edited, or without its text. */
export function shown({ texts, blankedAt }: Organization, event: LogEvent): LogEvent {
  if (blankedAt.has(event.offset)) return { ...event, kind: "blank", payload: "" };
  const payload = texts.get(event.id)?.payload;
  return payload === undefined ? event : { ...event, payload };
}

/** Whether an event or a text lasts at a time, whether or not the database still has it. */
export const lastsAt = ({ expiresAt = Number.POSITIVE_INFINITY }: { expiresAt?: number | undefined }, now: number) =>
  expiresAt > now;

/** The first events, ending with the one that reaches `maxBytes`. */
export function within(maxBytes: number, events: LogEvent[]): LogEvent[] {
  let bytes = 0;
  return events.filter(({ payload }) => {
    const fits = bytes < maxBytes;
    bytes += Buffer.byteLength(payload);
    return fits;
  });
}
