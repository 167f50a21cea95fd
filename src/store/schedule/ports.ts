import type { ErrorCode, FieldError } from "../../contract/errors/errors.ts";
import type { KeyProof, NewSend, SendNames, SendRefusal } from "../ports.ts";
import { createMapping, type Mapped, nullable, number, text } from "../sql/mapping.ts";

/** What became of a scheduled send. */
export type ScheduledState = "waiting" | "sent" | "failed" | "cancelled";

/** The columns of scheduled sends. Times in milliseconds since the Unix epoch, by the database's clock. */
export const scheduledSends = createMapping({
  id: text("id"),
  state: text<ScheduledState>("state"),
  sendAt: number("send_at"),
  /** The request as JSON; `null` once it was sent or cancelled: what was sent is in the log alone. */
  request: nullable(text("request")),
  /** Equal for the same request at the same time. */
  fingerprint: text("fingerprint"),
  /** Changes with the content. */
  revision: text("revision"),
  /** The key that scheduled it. */
  keyId: text("key_id"),
  createdAt: number("created_at"),
  /** When it was sent, failed or was cancelled. */
  endedAt: nullable(number("ended_at")),
  /** The id of what was sent, as its recipients know it. */
  serverMid: nullable(text("server_mid")),
  /** Why it failed, as JSON of a `Failure`. */
  problem: nullable(text("problem")),
  /** The id of the attempt that ended it. */
  tryId: nullable(text("try_id")),
});

/** A send that is scheduled for a time, or was. */
export type ScheduledSend = Mapped<typeof scheduledSends>;

/** Why a scheduled send failed: the refusal of the log, or an error found before. */
export type Failure =
  | (({ outcome: "conflict" } | SendRefusal) & {
      /** What the send named, as its request is not kept; absent if an earlier version stored it. */
      of?: SendNames;
    })
  | { outcome: "error"; code: ErrorCode; detail: string; fields: FieldError[] };

/** A scheduled send that failed, as it is stored for webhooks. */
export type FailedSend = Pick<ScheduledSend, "id" | "sendAt"> & { tryId: string; failure: Failure };

/** A send to be scheduled. `now` is the time of the database's clock. */
export type NewScheduledSend = Pick<ScheduledSend, "id" | "sendAt" | "fingerprint" | "revision" | "keyId"> & {
  request: string;
  sender: string;
  now: number;
  /** The revision that is replaced; `undefined` if there is none yet. Another one changes nothing (`changed`). */
  replaces: string | undefined;
  /** How many sends of the organization may wait. */
  mostWaiting: number;
};

/** The outcome of scheduling a send. */
export type ScheduleOutcome =
  | { outcome: "done"; send: ScheduledSend }
  | { outcome: "changed" | "missing" | "too_many" };

/** A page of scheduled sends by time and id. */
export type SchedulePage = {
  state: ScheduledState | undefined;
  after: { sendAt: number; id: string } | undefined;
  limit: number;
  maxBytes: number;
};

/** What waits on the whole server: how many, and since when a node should have looked at an organization, in milliseconds. */
export type ScheduleBacklog = { waiting: number; overdueMs: number };

/** Reads scheduled sends. */
export type ScheduleReads = {
  /** The time of the database's clock, and the scheduled send if there is one. */
  find(org: string, id: string): Promise<{ now: number; found: ScheduledSend | undefined }>;
  /** At most `limit` of those after a place, ending with the one that reaches `maxBytes`, and whether there are more. */
  list(org: string, page: SchedulePage): Promise<{ items: ScheduledSend[]; hasMore: boolean }>;
  /** The time of the database's clock, and when a node must look at an organization next, if anything waits. */
  next(): Promise<{ now: number; nextAt: number | undefined }>;
  /** At most `limit` organizations that a node must look at by `now`, those that have waited longest first. */
  dueOrganizations(now: number, limit: number): Promise<string[]>;
  /** The first of an organization's waiting sends that are due by `now`, ending with the one that reaches `maxBytes`. */
  due(org: string, now: number, page: { limit: number; maxBytes: number }): Promise<ScheduledSend[]>;
  backlog(): Promise<ScheduleBacklog>;
};

/** What is decided of a send: it is to be appended, or why it cannot be. `tryId` is the id of this attempt. */
export type Decided = { id: string; tryId: string } & ({ send: NewSend; serverMid: string } | { failure: Failure });

/** A due send, as its node found it. */
export type DueSend = Decided & { revision: string };

/** Due sends of one organization, found at `now`. */
export type Settlement = {
  now: number;
  entries: DueSend[];
  /** Nothing more is due before this time; without it, what is due is due at once. */
  notBefore: number | undefined;
};

/**
 * What became of a due send in the transaction that settled it. `over`: it was not waiting any more, or had been
 * replaced. `isNew` is false for a retry of a stored send; `error` is set if the failure has no known reason.
 */
export type Settled = { id: string } & (
  | { state: "sent"; isNew: boolean }
  | { state: "failed"; failure: Failure; error?: unknown }
  | { state: "over" }
);

/** Writes scheduled sends. */
export type ScheduleWrites = {
  /** Schedules a send, or replaces one that waits. Counts its bytes as stored. */
  put(org: string, send: NewScheduledSend, by?: KeyProof): Promise<ScheduleOutcome>;
  /** Cancels the send if it is of this revision and waits. False if it is not. */
  cancel(org: string, id: string, options: { revision: string; now: number }): Promise<boolean>;
  /** Cancels at most `limit` of those that wait for this sender; returns their number. */
  cancelSome(org: string, options: { sender: string; now: number; limit: number }): Promise<number>;
  /**
   * Sends what still waits and may be sent, in one commit with the note that it was: so it is sent once, whoever else
   * tries. Then announces the events. Rejects like an append, and then nothing has changed unless the outcome is unknown.
   */
  settle(org: string, settlement: Settlement): Promise<Settled[]>;
};
