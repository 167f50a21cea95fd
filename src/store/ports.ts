import type { Scope } from "../contract/keys/scopes.ts";
import type { EventKind, LogEvent } from "../contract/log/log-event.ts";
import type { LogPage, LogPlace } from "../contract/log/log-place.ts";

/**
 * A send that is to be stored. With a `cid` the sender must be a participant of that conversation, without one a user
 * of the organization: this is checked in the transaction that stores the send.
 */
export type NewSend = {
  org: string;
  kind: Extract<EventKind, "message" | "system">;
  /** UUIDv7. */
  id: string;
  cid: string | undefined;
  sender: string;
  /** The id that identifies the send for retries; without it every append stores. */
  mid: string | undefined;
  /** Equal for retries, different for another payload. */
  fingerprint: string;
  payload: string;
  uids: string[] | undefined;
  /** Milliseconds since the Unix epoch. */
  createdAt: number;
  /** The API key that sent it: kept for operators, never delivered. */
  keyId: string;
};

/** What became of an append. `replayed` carries what the first append stored. */
export type AppendResult =
  | { outcome: "stored"; id: string; mid: string | undefined; createdAt: number }
  | { outcome: "replayed"; id: string; mid: string | undefined; createdAt: number }
  | { outcome: "conflict" }
  | { outcome: "refused"; missing: "organization" | "conversation" | "participant" | "user" };

/** A message found again, with where it stands in the log. */
export type StoredMessage = { offset: number; payload: string };

/** A message that a user missed. */
export type MissedMessage = StoredMessage & {
  id: string;
  cid: string;
  /** Whether the user took part in the conversation when it was said, and ever since. */
  isRecipient: boolean;
};

/** Writes sends into the log of their organization. */
export type SendLog = {
  /**
   * Appends in one commit with others. Resolves after the flush to disk; rejects with `storage_full` or `unavailable`,
   * and then the outcome is unknown: append again with the same `mid`.
   */
  append(send: NewSend): Promise<AppendResult>;
};

/** Writes batches of sends into the log. */
export type BatchLog = {
  /** Appends all in one commit, and announces nothing. A result for each send, in order; rejects as `append` does, and then for all. */
  appendAll(sends: NewSend[]): Promise<BatchResult[]>;
  /** What would become of a send, by the rules of an append, which are asked in the same order. Stores nothing. */
  check(send: NewSend): Promise<SendCheck>;
};

/** What would become of a send, and how many take part in its conversation now (0 without one). */
export type SendCheck =
  | { outcome: "fits" | "replayed"; participants: number }
  | Extract<AppendResult, { outcome: "conflict" | "refused" }>;

/** The outcome of one send of a batch: where it was stored, as in `LogEvent`, or else what became of it. */
export type BatchResult =
  | { outcome: "stored"; offset: number; prev?: string | undefined }
  | Exclude<AppendResult, { outcome: "stored" }>
  | { outcome: "failed"; error: unknown };

/** Reads the log in offset order, for the players of the log. */
export type LogReader = {
  /** The heads of those of `orgs` that exist, of deleted ones too. */
  heads(orgs: string[]): Promise<Map<string, LogPlace>>;
  /** The same as `readAfter`, up to about 4 MiB, with what stands at `offset` itself and where the log ends, in one snapshot. At most one more than `limit`. */
  readFrom(org: string, offset: number, limit: number): Promise<LogPage>;
  /** At most `limit` events after `offset`, in order, up to the one that makes them `maxBytes` or more; none when there are no more. */
  readAfter(org: string, offset: number, limit: number, maxBytes: number): Promise<LogEvent[]>;
};

/** Which messages of a conversation: between two offsets, exclusive, in one direction. */
export type HistoryRange = {
  after?: number | undefined;
  before?: number | undefined;
  direction: "forward" | "backward";
  limit: number;
  maxBytes: number;
};

/** Reads the messages of conversations. Only messages since the conversation was last created are there. */
export type History = {
  /** The messages of a conversation in the range, in its direction: at most `limit`, up to the one that makes them `maxBytes` or more. */
  messages(org: string, cid: string, range: HistoryRange): Promise<StoredMessage[]>;
  /** The offset of a message of a conversation. */
  offsetOf(org: string, cid: string, id: string): Promise<number | undefined>;
};

/** Reads what a user missed. */
export type MissedMessages = {
  /** Where a message of the organization stands and when it was stored, in milliseconds. */
  findMessage(org: string, id: string): Promise<{ offset: number; createdAt: number } | undefined>;
  /** How many messages of the user's conversations lie after `after` up to `upTo`; counts no further than `limit`. */
  countMissed(org: string, uid: string, after: number, upTo: number, limit: number): Promise<number>;
  /** The messages of the user's conversations after `after` up to `upTo`, in order, at most `limit`, up to the one that makes them `maxBytes` or more. */
  readMissed(
    org: string,
    uid: string,
    after: number,
    upTo: number,
    limit: number,
    maxBytes: number,
  ): Promise<MissedMessage[]>;
};

/** An organization, user or conversation as stored. */
export type Entity = {
  id: string;
  name: string | null;
  createdAt: number;
  /** Only of a user who is blocked. */
  isBlocked?: true;
};

/** What a `PUT` made of an entity. */
export type Put = { entity: Entity; isNew: boolean };

/** A page of entities by id: those after `after`, at most `limit`. */
export type EntityPage = { after: string | undefined; limit: number };

/** Organizations. A deleted one is as if it had never been, but its log goes on where it was if it is made again. */
export type Organizations = OrganizationReads & OrganizationWrites;

/** What an organization may use in place of what the settings say. `null`: what they say; 0: as much as it likes. */
export type OwnLimits = {
  requestsPerSecond: number | null;
  messagesPerSecond: number | null;
  connections: number | null;
  storedBytes: number | null;
};

/** An organization's own limits, and the bytes of its events. */
export type OrganizationBudget = { id: string; limits: OwnLimits; storedBytes: number };

/** Reads organizations. */
export type OrganizationReads = {
  get(org: string): Promise<Entity | undefined>;
  list(page: EntityPage): Promise<Entity[]>;
  /** Those of `orgs` that there are, in no order. */
  budgets(orgs: readonly string[]): Promise<OrganizationBudget[]>;
};

/** Writes organizations. */
export type OrganizationWrites = {
  /**
   * Limits that are left out stay as they are, those of a deleted organization of that id too. Rejects with `unavailable` while much
   * is left of that one.
   */
  put(org: string, name: string | null | undefined, now: number, limits?: Partial<OwnLimits>): Promise<Put>;
  /** What it holds is out of sight at once, and removed later. False when there was none. */
  remove(org: string, now: number): Promise<boolean>;
};

/** Users of an organization. Every method answers `undefined` when the organization or the user is not there. */
export type Users = UserReads & UserWrites;

/** Reads users. */
export type UserReads = {
  get(org: string, uid: string): Promise<Entity | undefined>;
  list(org: string, page: EntityPage): Promise<Entity[]>;
  /** Tokens issued at or before this time are refused: that of the user's last sign-out, or of the organization's last deletion if that was later; 0 when there was neither, also of unknown users. */
  tokensValidAfter(org: string, uid: string): Promise<number>;
};

/** Writes users. */
export type UserWrites = {
  /**
   * What is `undefined` stays. Who becomes blocked loses all connections; a block also outlives the deletion of the user, and ends
   * with `isBlocked: false` alone.
   */
  put(
    org: string,
    uid: string,
    name: string | null | undefined,
    now: number,
    isBlocked?: boolean,
  ): Promise<Put | undefined>;
  /** Creates those of these users who do not exist, in one commit. Users of organizations that do not exist are passed over. */
  ensure(users: readonly { org: string; uid: string }[], now: number): Promise<void>;
  remove(org: string, uid: string, now: number): Promise<boolean>;
  /** Closes the user's connections and refuses tokens issued up to `now`. */
  endSessions(org: string, uid: string, now: number): Promise<boolean>;
  /** Closes the connections that the user's token with this `jti` holds open, and refuses it. */
  revokeToken(org: string, uid: string, jti: string, now: number): Promise<boolean>;
};

/** What a change of a conversation's participants came to. */
export type ConversationChange =
  | { outcome: "done"; put: Put }
  | { outcome: "missing"; missing: "organization" | "conversation" | "participant" }
  | { outcome: "too_many" };

/** Conversations and their participants. Membership changes in the same transaction as its event. */
export type Conversations = ConversationReads & ConversationWrites;

/** Reads conversations. */
export type ConversationReads = {
  get(org: string, cid: string): Promise<Entity | undefined>;
  list(org: string, page: EntityPage): Promise<Entity[]>;
};

/** What a `PUT` changes of a conversation: what is left out stays. */
export type ConversationPut = { name?: string | null | undefined; participants?: string[] | undefined };

/** Writes conversations. */
export type ConversationWrites = {
  /**
   * A large set is replaced in several commits, each with its event. Of sets put at once the last stays. When it rejects, a part of the
   * set may be in place: put it again.
   */
  put(org: string, cid: string, change: ConversationPut, now: number): Promise<Put | undefined>;
  /** Takes a large set of participants out in several commits, and then removes the conversation. */
  remove(org: string, cid: string, now: number): Promise<boolean>;
};

/** Who takes part in a conversation. */
export type Participants = ParticipantReads & ParticipantWrites;

/** Reads participants. */
export type ParticipantReads = {
  list(org: string, cid: string, page: EntityPage): Promise<Entity[]>;
  has(org: string, cid: string, uid: string): Promise<boolean>;
};

/** Writes participants. */
export type ParticipantWrites = {
  /** Creates the user if need be. `put` shows the user; `isNew` says whether the user was added now. */
  add(org: string, cid: string, uid: string, maxParticipants: number, now: number): Promise<ConversationChange>;
  remove(org: string, cid: string, uid: string, now: number): Promise<ConversationChange>;
};

/** A conversation as one of its participants sees it. Times in milliseconds. */
export type UserConversation = { id: string; name: string | null; createdAt: number; updatedAt: number };

/** Where a user stands in the organization's log. */
export type Standing = {
  /**
   * All that decides about a user's connection, with a token of that `jti` if it has one, read in one snapshot. `undefined` when
   * there is no such organization.
   */
  snapshot(org: string, uid: string, jti?: string): Promise<UserSnapshot | undefined>;
  /** The user's conversations, most recently active first, after the given place. */
  conversations(
    org: string,
    uid: string,
    page: { after: { updatedAt: number; id: string } | undefined; limit: number },
  ): Promise<UserConversation[]>;
};

/** A user at one moment: the head of the organization's log, the user's conversations, and the rest. */
export type UserSnapshot = {
  head: number;
  /** The id of the event at the head, as in `LogPlace`. */
  headId: string | undefined;
  cids: string[];
  /** As `UserReads.tokensValidAfter`. */
  tokensValidAfter: number;
  /** False for somebody who was deleted, or never made. */
  isUser: boolean;
  /** Whether that one token was revoked. */
  isRevoked: boolean;
  /** Whether every token of the user is refused; also of somebody who was deleted. */
  isBlocked: boolean;
};

/** A node in the registry. `beat` grows each time it says that it lives; `status` is what it said then. */
export type RegisteredNode = { id: string; beat: number; status: string };

/** The nodes that share the database. Whether one still lives is for those who read it to judge, by its `beat`. */
export type NodeRegistry = {
  /** Writes that this node lives, and what it says of itself. */
  beat(id: string, status: string): Promise<void>;
  /** All nodes, by id. */
  list(): Promise<RegisteredNode[]>;
  /** Takes a node out; with `beat`, only if it has not beaten since. */
  remove(id: string, beat?: number): Promise<void>;
};

/** The secrets that the nodes of a database sign with on the bus. */
export type BusSecrets = {
  /** All of them, the oldest first. */
  list(): Promise<string[]>;
  /** Stores the first one, made at `createdAt` (milliseconds); where there is one it stays, also when several nodes call this at once. */
  begin(secret: string, createdAt: number): Promise<void>;
};

/** One secret of an API key: what is kept of it, and when it ends (`null`: with the key). */
export type StoredSecret = { digest: string; expiresAt: number | null };

/** What an API key may do, and when. `null` restricts nothing. Times in milliseconds. */
export type KeyRights = {
  scopes: Scope[];
  org: string | null;
  /** The only users that it may send as. */
  senders: string[] | null;
  /** The only networks, in CIDR notation, that it may be used from. */
  networks: string[] | null;
  expiresAt: number | null;
};

/** An API key as stored, its newest secret first. */
export type StoredKey = KeyRights & {
  id: string;
  name: string;
  secrets: StoredSecret[];
  createdAt: number;
  /** When it was used last, give or take a minute or two. */
  lastUsedAt: number | null;
};

/** A key that is to be stored with its first secret. `pepper` names what the digests were made with. */
export type NewKey = KeyRights & { id: string; name: string; digest: string; pepper: string; createdAt: number };

/** API keys. A revoked key is as if it had never been, but its row stays: events name it. */
export type ApiKeys = KeyReads & KeyWrites;

/** Reads API keys. */
export type KeyReads = {
  get(id: string): Promise<StoredKey | undefined>;
  /** By id, those of `org` only if it is given. */
  list(page: EntityPage & { org: string | undefined }): Promise<StoredKey[]>;
  /** A key that was changed last, `undefined` while there is none. Versions are in the order of commits. */
  latest(): Promise<KeyChange | undefined>;
  /** In one snapshot: the keys changed after the version `since`, and those of `ids` that there are, revoked ones too. */
  changes(since: number, ids: string[]): Promise<KeyChange[]>;
  /** How many keys have digests that were made with another pepper. */
  countOfOtherPepper(pepper: string): Promise<number>;
};

/**
 * A key as it is since `version`; `key` is `undefined` when it was revoked. `mark` tells its last change from any other, even from
 * one of the same version in a database that lost its end and went on.
 */
export type KeyChange = { id: string; version: number; mark: string; key: StoredKey | undefined };

/** A new secret, and when those before it end at the latest. `keep` of all secrets stay: the oldest end first. */
export type Rotation = { digest: string; pepper: string; othersEndAt: number; keep: number; now: number };

/** Writes API keys. */
export type KeyWrites = {
  /** False when there is no such organization. */
  create(key: NewKey): Promise<boolean>;
  /** The key with its new secret; `undefined` when there is none. */
  rotate(id: string, rotation: Rotation): Promise<StoredKey | undefined>;
  /** False when there was none. */
  revoke(id: string, now: number): Promise<boolean>;
  /** Notes that these keys were used. */
  markUsed(ids: string[], now: number): Promise<void>;
};
