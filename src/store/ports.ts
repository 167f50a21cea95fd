import type { EventKind, LogEvent } from "../contract/log/log-event.ts";
import type { LogPage, LogPlace } from "../contract/log/log-place.ts";
import type { NamedFile } from "./files/ports.ts";
import { createMapping, type Mapped, nullable, number, text } from "./sql/mapping.ts";

/**
 * A send to be stored. The sender must be a participant of the conversation `cid`, or without `cid` a user of the
 * organization; the transaction that stores the send checks this.
 */
export type NewSend = {
  org: string;
  kind: Extract<EventKind, "message" | "system" | "append">;
  /** UUIDv7. */
  id: string;
  cid: string | undefined;
  sender: string;
  /** The sender's id for retries; without it, every append stores a new send. */
  mid: string | undefined;
  /** Equal for retries, different for another payload. */
  fingerprint: string;
  payload: string;
  /** The files that a message names. */
  files?: readonly NamedFile[] | undefined;
  /** The recipients of a system message; empty if they are the participants of `cid`, or everyone. */
  uids: string[] | undefined;
  /** Until when inboxes keep a system message, in milliseconds since the Unix epoch, and its key, if it has one. */
  kept?: { until: number; key?: string | undefined } | undefined;
  /** It counts as unread nowhere, and no webhook waits for it. */
  silent?: true | undefined;
  isOpen?: LogEvent["isOpen"];
  /** Of kind `append`: a piece of the message `of`, at an offset in Unicode code points. Its `cid` and `sender` are those of the message. */
  piece?: { of: string; offset: number; text: string; isDone: boolean } | undefined;
  completes?: LogEvent["completes"];
  /** When it ends, in milliseconds since the Unix epoch, as in `LogEvent`. */
  expiresAt?: number | undefined;
  /** The ids of messages that a message names: the sender must be a participant of their conversations. */
  referred?: readonly string[] | undefined;
  /** Milliseconds since the Unix epoch. */
  createdAt: number;
  /** The API key it was sent with: kept for operators, never delivered. */
  keyId: string;
};

/**
 * A send that may not be stored, because something does not exist; `file` is the id of the attachment that does not, `message` that
 * of the message that the sender does not see. `time`: it would have expired already, by the database's clock.
 */
export type SendRefusal = {
  outcome: "refused";
  missing: "organization" | "conversation" | "participant" | "user" | "file" | "time" | "message";
  file?: string | undefined;
  message?: string | undefined;
};

/** What the refusal of a send may name. */
export type SendNames = Pick<NewSend, "org" | "sender"> & Partial<Pick<NewSend, "kind" | "cid" | "mid">>;

/**
 * The outcome of a send, from the transaction that decides it to the service that answers it. `stored` holds its place, as in
 * `LogEvent`, and how many webhooks wait for it, if any; `replayed` holds the id and time that the first append stored; `unfit`: a
 * piece that does not begin at the end of its message, which is so long, or is complete;
 * `failed` concerns this send alone, which is not stored.
 */
export type SendOutcome =
  | {
      outcome: "stored";
      id: string;
      createdAt: number;
      offset: number;
      prev?: string | undefined;
      webhooks?: number | undefined;
    }
  | { outcome: "replayed"; id: string; createdAt: number }
  | { outcome: "conflict" }
  | { outcome: "unfit"; length: number }
  | SendRefusal
  | { outcome: "failed"; error: unknown };

/** An outcome that is known without storing the send. */
export type SendVerdict = Exclude<SendOutcome, { outcome: "stored" | "failed" }>;

/** Appends sends to their organization's log. */
export type SendLog = {
  /**
   * Appends together with others in one commit. Resolves after the flush to disk. If it rejects with `storage_full` or
   * `unavailable`, the outcome is unknown: append again with the same `mid`.
   */
  append(send: NewSend): Promise<SendOutcome>;
  /**
   * Appends sends of one organization in one commit, in their order: if the database fails, none of them is stored before another
   * that comes first. Settle like those of `append`.
   */
  appendTogether(sends: readonly NewSend[]): Promise<SendOutcome>[];
};

/** Watches sends that wait. */
export type PendingSends = {
  /** When the oldest send without an outcome was created; `undefined` if there is none. */
  oldestPending(): number | undefined;
};

/** Appends batches of sends to the log. */
export type BatchLog = {
  /**
   * Appends all in one commit, without announcing them. Returns one outcome per send, in order; rejects for all of them,
   * like `append`.
   */
  appendAll(sends: NewSend[]): Promise<SendOutcome[]>;
  /** Checks a send by the rules of an append, in the same order. Stores nothing. */
  check(send: NewSend): Promise<SendCheck>;
};

/** The outcome that a send would have (`undefined`: it would be stored), and the current number of participants of its conversation (0 without one). */
export type SendCheck = { verdict: SendVerdict | undefined; participants: number };

/** Reads the log in offset order, for its players. */
export type LogReader = {
  /** The heads of those of `orgs` that exist, deleted ones included. */
  heads(orgs: string[]): Promise<Map<string, LogPlace>>;
  /**
   * Like `readAfter`, up to about 4 MiB, plus the id of the event at `offset` and the head, in one snapshot. May return
   * one event more than `limit`.
   */
  readFrom(org: string, offset: number, limit: number): Promise<LogPage>;
  /**
   * At most `limit` events after `offset`, in order, ending with the event that reaches `maxBytes`; empty at the end of
   * the log.
   */
  readAfter(org: string, offset: number, limit: number, maxBytes: number): Promise<LogEvent[]>;
};

/** A stored organization, user or conversation. */
export type Entity = {
  id: string;
  name: string | null;
  createdAt: number;
  /** Present only on a blocked user. */
  isBlocked?: true;
};

/** The result of a `PUT`. */
export type Put = { entity: Entity; isNew: boolean };

/** A page of entities by id: at most `limit` of those after `after`. */
export type EntityPage = { after: string | undefined; limit: number };

/**
 * Organizations. A deleted one is as if it had never existed, but if it is created again, its log continues at the old
 * offset.
 */
export type Organizations = OrganizationReads & OrganizationWrites;

/** The columns of an organization's own limits. */
export const ownLimits = createMapping({
  requestsPerSecond: nullable(number("limit_requests")),
  messagesPerSecond: nullable(number("limit_messages")),
  connections: nullable(number("limit_connections")),
  storedBytes: nullable(number("limit_bytes")),
});

/** An organization's own limits. `null` means the configured default, 0 no limit. */
export type OwnLimits = Mapped<typeof ownLimits>;

/** An organization's own limits, and the bytes of its stored events. */
export type OrganizationBudget = { id: string; limits: OwnLimits; storedBytes: number };

/** Reads organizations. */
export type OrganizationReads = {
  get(org: string): Promise<Entity | undefined>;
  list(page: EntityPage): Promise<Entity[]>;
  /** The budgets of those of `orgs` that exist, in no particular order. */
  budgets(orgs: readonly string[]): Promise<OrganizationBudget[]>;
};

/** Writes organizations. */
export type OrganizationWrites = {
  /**
   * Omitted limits keep their value, even that of a deleted organization with this id. Rejects with `unavailable` while
   * much of that organization is still to be removed. A key `by` that is bound to an organization creates none, as it ended
   * with its own: rejects with `unauthorized` then.
   */
  put(
    org: string,
    name: string | null | undefined,
    now: number,
    limits?: Partial<OwnLimits>,
    by?: KeyProof,
  ): Promise<Put>;
  /** Hides the organization at once and leaves its contents to be removed later. False if there was none. */
  remove(org: string, now: number): Promise<boolean>;
};

/** Users of an organization. Methods return `undefined` or false if the organization or user does not exist. */
export type Users = UserReads & UserWrites;

/** Where a list by prefix goes on: among those found by id or by name, at `key`, and after `id` if that is given. */
export type PrefixPlace = { by: "id" | "name"; key: string; id: string };

/** A page of what begins with a text, ignoring case: by id, and then, of what is left, by name and id. */
export type PrefixPage = { prefix: string; after: PrefixPlace | undefined; limit: number };

/** What was found for a page, and where the next one begins; `undefined` at the end. A page may have fewer than its limit. */
export type Found = { entities: Entity[]; next: PrefixPlace | undefined };

/** Reads what an organization has of one kind. */
export type EntityReads = {
  get(org: string, id: string): Promise<Entity | undefined>;
  list(org: string, page: EntityPage): Promise<Entity[]>;
  /** Those whose id or name begins with a text. */
  find(org: string, page: PrefixPage): Promise<Found>;
};

/** Reads users. */
export type UserReads = EntityReads & {
  /** Those of the users who exist, by id; about a hundred at most. */
  among(org: string, ids: readonly string[]): Promise<Entity[]>;
  /**
   * Tokens issued at or before this time are refused: the user's last sign-out or the organization's last deletion,
   * whichever is later; 0 if there was neither, even for unknown users.
   */
  tokensValidAfter(org: string, uid: string): Promise<number>;
  /**
   * When the last connection of each of the users to a node ended, in milliseconds since the Unix epoch, as far as that is known; of
   * at most 500 users.
   */
  seenAmong(org: string, ids: readonly string[]): Promise<Map<string, number>>;
};

/** Writes users. */
export type UserWrites = {
  /**
   * Fields that are `undefined` stay as they are. Blocking a user closes all connections; a block survives the deletion
   * of the user and ends only with `isBlocked: false`.
   */
  put(
    org: string,
    uid: string,
    name: string | null | undefined,
    now: number,
    isBlocked?: boolean,
    by?: KeyProof,
  ): Promise<Put | undefined>;
  /** Creates those of the users who do not exist, in one commit. Skips users of organizations that do not exist. */
  ensure(users: readonly { org: string; uid: string }[], now: number): Promise<void>;
  remove(org: string, uid: string, now: number): Promise<boolean>;
  /** Records for these users that a connection of theirs was last seen at this time; skips users who do not exist. */
  noteSeen(seen: readonly { org: string; uids: readonly string[] }[], at: number): Promise<void>;
  /** Closes the user's connections and refuses tokens issued up to `now`. */
  endSessions(org: string, uid: string, now: number): Promise<boolean>;
  /** Refuses the user's token with this `jti` and closes the connections it holds open. */
  revokeToken(org: string, uid: string, jti: string, now: number): Promise<boolean>;
};

/** The result of a change of a conversation's participants. */
export type ConversationChange =
  | { outcome: "done"; put: Put }
  | { outcome: "missing"; missing: "organization" | "conversation" | "participant" }
  | { outcome: "too_many" };

/** Conversations and their participants. Membership changes in the same transaction as its event. */
export type Conversations = EntityReads & ConversationWrites;

/** The changes of a `PUT`; omitted fields stay as they are. */
export type ConversationPut = { name?: string | null | undefined; participants?: string[] | undefined };

/** Writes conversations. */
export type ConversationWrites = {
  /**
   * Replaces a large set in several commits, each with its event. Of concurrent sets, the last one stays. If it
   * rejects, part of the set may be in place: put it again.
   */
  put(org: string, cid: string, change: ConversationPut, now: number, by?: KeyProof): Promise<Put | undefined>;
  /** Removes a large set of participants in several commits, and then the conversation. */
  remove(org: string, cid: string, now: number): Promise<boolean>;
};

/** The participants of a conversation. */
export type Participants = ParticipantReads & ParticipantWrites;

/** Reads participants. */
export type ParticipantReads = {
  list(org: string, cid: string, page: EntityPage): Promise<Entity[]>;
  has(org: string, cid: string, uid: string): Promise<boolean>;
};

/** Reads who knows whom: two users know each other if they share a conversation. */
export type AcquaintanceReads = {
  /** The users among `ids` whom the user knows, and the user itself, by id. */
  among(org: string, uid: string, ids: readonly string[]): Promise<Entity[]>;
  /** When each of those was last seen, or else was created, in milliseconds since the Unix epoch. */
  lastSeen(org: string, uid: string, ids: readonly string[]): Promise<Map<string, number>>;
  /** Those of `cids` in which the user takes part, by id. */
  conversationsAmong(org: string, uid: string, cids: readonly string[]): Promise<string[]>;
};

/** Writes participants. */
export type ParticipantWrites = {
  /** Creates the user if necessary. `put` holds the user; `isNew` says whether the user was added by this call. */
  add(
    org: string,
    cid: string,
    uid: string,
    maxParticipants: number,
    now: number,
    by?: KeyProof,
  ): Promise<ConversationChange>;
  remove(org: string, cid: string, uid: string, now: number): Promise<ConversationChange>;
};

/** The columns of a conversation as listed for a participant. */
export const userConversations = createMapping({
  id: text("id"),
  name: nullable(text("name")),
  createdAt: number("created_at"),
  updatedAt: number("updated_at"),
  /** Messages of others that the user has not read, of the conversation's last 250 events; 100 means 100 or more. */
  unread: number("unread"),
});

/** A conversation as listed for a participant. Times in milliseconds since the Unix epoch. */
export type UserConversation = Mapped<typeof userConversations>;

/** Reads a user's place in the organization's log. */
export type Standing = {
  /**
   * Reads everything that decides about a user's connection, and about the token with that `jti`, in one snapshot.
   * `undefined` if there is no such organization.
   */
  snapshot(org: string, uid: string, jti?: string): Promise<UserSnapshot | undefined>;
  /** The user's conversations after the given place, most recently active first. */
  conversations(
    org: string,
    uid: string,
    page: {
      after: { updatedAt: number; id: string } | undefined;
      limit: number;
      /** Only those that were last active between these times, exclusive, in milliseconds since the Unix epoch. */
      between?: { gt?: number | undefined; lt?: number | undefined } | undefined;
    },
  ): Promise<UserConversation[]>;
};

/** A user at one moment: the head of the organization's log, the user's conversations and permissions. */
export type UserSnapshot = {
  head: number;
  /** The id of the event at the head, as in `LogPlace`. */
  headId: string | undefined;
  cids: string[];
  /** Like `UserReads.tokensValidAfter`. */
  tokensValidAfter: number;
  /** False if the user was deleted or never created. */
  isUser: boolean;
  /** Whether the organization keeps system messages in inboxes. */
  hasInboxes: boolean;
  /** Whether the token was revoked. */
  isRevoked: boolean;
  /** Whether every token of the user is refused; true even for a blocked user who was deleted. */
  isBlocked: boolean;
};

/** A registered node. `beat` grows with each sign of life; `status` is what it last reported. */
export type RegisteredNode = { id: string; beat: number; status: string };

/** The nodes that share the database. Readers judge by `beat` whether a node is alive. */
export type NodeRegistry = {
  /**
   * Records a sign of life and the node's status. Returns the database's time in milliseconds since the Unix epoch; `undefined` if
   * the nodes share none.
   */
  beat(id: string, status: string): Promise<number | undefined>;
  /** All nodes, by id. */
  list(): Promise<RegisteredNode[]>;
  /** Removes a node; with `beat`, only if it has not beaten since. */
  remove(id: string, beat?: number): Promise<void>;
};

/** The secrets that the nodes of a database sign bus messages with. */
export type BusSecrets = {
  /** All secrets, oldest first. */
  list(): Promise<string[]>;
  /**
   * Stores the first secret, created at `createdAt` (milliseconds since the Unix epoch); an existing one stays, even if
   * several nodes call this at once.
   */
  begin(secret: string, createdAt: number): Promise<void>;
};

/**
 * The key that a call came with, as the transaction of a change that creates or widens a right checks it again: a node may
 * not know yet that the key was revoked. `undefined` stands for a caller that is not in the table, such as the bootstrap key.
 */
export type KeyProof = {
  id: string;
  org: string | null;
  /** The digest of the secret in use. */
  digest: string;
  /** Milliseconds since the Unix epoch. */
  now: number;
};
