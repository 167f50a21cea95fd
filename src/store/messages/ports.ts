import type { EventKind } from "../../contract/log/log-event.ts";

/**
 * A stored message with its offset. `editedAt`: when it was last edited, in milliseconds since the Unix epoch. `reactions`: as JSON, how
 * many users have reacted in which way, if any has. `cid`: empty for a system message to no conversation.
 */
export type StoredMessage = {
  offset: number;
  cid: string;
  payload: string;
  editedAt: number | undefined;
  reactions: string | undefined;
};

/** A message, a change of one, or a kept system message that a user missed. */
export type MissedEvent = {
  offset: number;
  kind: EventKind;
  id: string;
  cid: string | undefined;
  payload: string;
  /** As in `LogEvent`. */
  expiresAt?: number | undefined;
  /** As in `LogEvent`, as of the head up to which it was read. */
  isOpen?: true | undefined;
  /** As in `LogEvent`. */
  completes?: number | undefined;
  /** Whether the event was addressed to the user: who joined a conversation later, or left it since, is no recipient. */
  isRecipient: boolean;
};

/** Selects messages of a conversation: between two offsets, exclusive, in one direction. */
export type HistoryRange = {
  after?: number | undefined;
  before?: number | undefined;
  direction: "forward" | "backward";
  limit: number;
  maxBytes: number;
};

/** Where a message is, and how many bytes of text it has. */
export type MessagePlace = { cid: string; offset: number; bytes: number };

/** Reads the messages of conversations, from when each was last created. What was taken back is missing. */
export type History = {
  /**
   * The messages in the range, in its direction: at most `limit`, ending with the one that reaches `maxBytes`. With a `viewer`, without
   * those that this user has hidden.
   */
  messages(org: string, cid: string, range: HistoryRange, viewer?: string): Promise<StoredMessage[]>;
  /** The offset of a message in a conversation, even if it was taken back. */
  offsetOf(org: string, cid: string, id: string): Promise<number | undefined>;
  /** The places of those of `ids` that are messages of the conversation, which the viewer has not hidden, newest first. */
  places(org: string, cid: string, ids: readonly string[], viewer: string): Promise<MessagePlace[]>;
  /** The places of the last messages of conversations that the viewer has not hidden, among the last 250 events of each. */
  lastPlaces(org: string, cids: readonly string[], viewer: string): Promise<MessagePlace[]>;
  /** The messages at these offsets, newest first. */
  messagesAt(org: string, offsets: readonly number[]): Promise<StoredMessage[]>;
  /** How a user has reacted to messages, by their offsets, in the order of the characters. */
  reactionsBy(
    org: string,
    uid: string,
    messages: readonly Pick<StoredMessage, "cid" | "offset">[],
  ): Promise<Map<number, string[]>>;
  /**
   * The offset from which on events of the conversation are later than a time, in milliseconds since the Unix epoch, found by
   * some 30 look-ups. Events are assumed to be in the order of their times, so that clocks of nodes that differ, and imports
   * in another order, make it inexact.
   */
  offsetAfter(org: string, cid: string, time: number): Promise<number>;
};

/** A message that has grown, as the store knows it. */
export type GrownMessage = {
  id: string;
  org: string;
  cid: string;
  offset: number;
  sender: string;
  /** Whether it was sent to the user, too. */
  isRecipient: boolean;
};

/** Reads what a user missed: messages, edits and recalls. What was taken back is missing. */
export type MissedEvents = {
  /**
   * The offset of a message of the organization, even if it was taken back, and when it was stored, in milliseconds since
   * the Unix epoch.
   */
  findMessage(org: string, id: string): Promise<{ offset: number; createdAt: number } | undefined>;
  /** How many events of the user's conversations lie after `after`, up to `upTo`, about as many as `limit` at most; pieces do not count. */
  countMissed(org: string, uid: string, after: number, upTo: number, limit: number): Promise<number>;
  /**
   * The events of the user's conversations after `after`, up to `upTo`, in order: at most `limit`, ending with the
   * one that reaches `maxBytes`. Messages that grow have the text that they had when the log ended at
   * `head`, or else at `upTo`.
   */
  readMissed(
    org: string,
    uid: string,
    after: number,
    upTo: number,
    limit: number,
    maxBytes: number,
    head?: number,
  ): Promise<MissedEvent[]>;
  /** The messages of the user's conversations up to `since` that have grown after it, without those that the user has hidden. */
  findGrown(org: string, uid: string, since: number): Promise<GrownMessage[]>;
  /** What such messages have grown by from `since` to `head`: at most one event for each. */
  readGrown(grown: readonly GrownMessage[], range: { since: number; head: number }): Promise<MissedEvent[]>;
};

/** A change of messages by a participant. `eventId` is the UUIDv7 of the event that tells it, `at` its time in milliseconds. */
type NewChange = {
  org: string;
  sender: string;
  eventId: string;
  at: number;
  /** The API key it was made with: kept for operators, never delivered. */
  keyId: string;
};

/** An edit of the message `id`. */
export type NewEdit = NewChange & {
  id: string;
  body: string;
  /** The new custom parameters as JSON text; without it, those of the message stay. */
  x: string | undefined;
};

/** A change of the sender's reactions to the message `id`. */
export type NewReaction = NewChange & { id: string; add: string | undefined; remove: string | undefined };

/** The outcome of a change of reactions, as of an edit. `reactions`: the message has too many different ones. */
export type ReactionOutcome =
  | Extract<ChangeOutcome, { cid: string }>
  | {
      outcome: "refused";
      missing: "organization" | "message" | "participant" | "reactions";
      /** The conversation of the message. */
      conversation?: string;
    };

/** Changes reactions to messages. */
export type Reactions = {
  /**
   * Adds and removes a participant's reactions and tells it to the conversation, in one commit. What is there already, or is not, is
   * neither stored nor told. Rejects like `MessageChanges.edit`.
   */
  react(reaction: NewReaction): Promise<ReactionOutcome>;
  /** Checks a change of reactions by the same rules, with the number of participants of its conversation. Stores nothing. */
  check(reaction: NewReaction): Promise<{ outcome: ReactionOutcome; participants: number }>;
};

/** A reaction of a user. */
export type UserReaction = { uid: string; reaction: string };

/** Reads who has reacted to messages. */
export type ReactionReads = {
  /** The first `limit` reactions to a message, by user; `undefined` unless the user sees the message. */
  reactionsTo(org: string, uid: string, id: string, limit: number): Promise<UserReaction[] | undefined>;
};

/** A recall of messages of one conversation. */
export type NewRecall = NewChange & { cid: string; ids: string[] };

/**
 * The outcome of a change. `unchanged`: the message said this already, and nothing was stored. `refused`: nothing was
 * changed, because something does not exist, the sender does not take part (`participant`) or did not write the message
 * (`owner`), or the message would say nothing (`content`).
 */
export type ChangeOutcome =
  | { outcome: "changed" | "unchanged"; cid: string }
  | {
      outcome: "refused";
      missing: "organization" | "conversation" | "message" | "participant" | "owner" | "content" | "completion";
      /** The id of the missing message, if several were named. */
      message?: string;
      /** The conversation of the message, if it was not named. */
      conversation?: string;
    };

/** The outcome that a change would have, and the current number of participants of its conversation. */
export type ChangeCheck = { outcome: ChangeOutcome; participants: number };

/** Changes stored messages, sent or imported. */
export type MessageChanges = {
  /**
   * Replaces what a message says and tells it to its conversation, in one commit. The event of an earlier edit is blanked.
   * Rejects with `storage_full` or `unavailable`; then the outcome is unknown, and the edit can be made again.
   */
  edit(edit: NewEdit): Promise<ChangeOutcome>;
  /**
   * Takes the texts of messages out of the store and tells it to their conversation, in one commit: of all, or if one does not
   * exist or was taken back, of none. Rows, ids and offsets stay. Rejects like `edit`.
   */
  recall(recall: NewRecall): Promise<ChangeOutcome>;
  /** Checks an edit by the same rules. Stores nothing. */
  checkEdit(edit: NewEdit): Promise<ChangeCheck>;
  /** Checks a recall by the same rules. Stores nothing. */
  checkRecall(recall: NewRecall): Promise<ChangeCheck>;
};

/** Hides messages from the lists of the user who asks. */
export type Hidings = {
  /**
   * Hides messages from `sender` and tells it to the user's own connections, in one commit: all, or if one does not exist or was taken
   * back, none. What is hidden already is neither stored nor told. Rejects like `MessageChanges.edit`.
   */
  hide(hiding: NewRecall): Promise<ChangeOutcome>;
  /** Checks a hiding by the same rules. Stores nothing. */
  check(hiding: NewRecall): Promise<ChangeOutcome>;
};

/** Reads what users have hidden. */
export type HiddenReads = {
  /** Those of the messages that the user has hidden. */
  hiddenAmong(org: string, uid: string, ids: readonly string[]): Promise<ReadonlySet<string>>;
};

/** A recall of system messages of one sender, by their `mid`s. */
export type NewSystemRecall = Omit<NewChange, "eventId"> & { ids: string[] };

/** Whom a system message was addressed to. */
export type SystemAudience =
  | { address: "users"; uids: string[] }
  | { address: "conversation"; cid: string }
  | { address: "everyone" };

/** Why system messages cannot be taken back: the organization, the sender (`user`) or the message named does not exist. */
export type SystemRecallRefusal = {
  outcome: "refused";
  missing: "organization" | "user" | "message";
  message?: string;
};

/** Takes system messages back. */
export type SystemRecalls = {
  /**
   * Takes the texts of system messages out of the store and tells it to whom they were addressed to, in one commit: of all, or if
   * one does not exist or was taken back, of none. Rejects like `MessageChanges.edit`.
   */
  recall(recall: NewSystemRecall): Promise<{ outcome: "changed" } | SystemRecallRefusal>;
  /** Checks a recall by the same rules, and returns the distinct audiences of the messages. Stores nothing. */
  check(recall: NewSystemRecall): Promise<{ outcome: "changed"; audiences: SystemAudience[] } | SystemRecallRefusal>;
};

/** What a user wrote: a message, a system message, or what told of a reaction, with the bytes of its text. */
export type WrittenEvent = { offset: number; is: "message" | "system" | "reaction"; bytes: number };

/** Finds what a user wrote. */
export type ErasureReads = {
  /**
   * What the user wrote among the next events after `after`, up to `upTo`, and the offset of the last of these events, from
   * which to go on; `undefined` if there are none. Messages that were taken back are left out.
   */
  written(of: {
    org: string;
    uid: string;
    after: number;
    upTo: number;
  }): Promise<{ events: WrittenEvent[]; last: number } | undefined>;
};

/** The erasure of a user's messages at a time, in milliseconds since the Unix epoch, with an API key. */
export type Erasure = { org: string; uid: string; at: number; keyId: string };

/** Erases what a user wrote. */
export type ErasureWrites = {
  /** Forgets the name of a deleted user; false if there never was one, or if the user exists again. */
  begin(org: string, uid: string): Promise<boolean>;
  /**
   * Takes the messages back in one commit, as `MessageChanges.recall` does: at most a hundred. System messages keep nothing but
   * their ids and recipients.
   */
  erase(erasure: Erasure, events: readonly WrittenEvent[]): Promise<void>;
  /** Removes at most `limit` of the user's reactions in one commit, and returns their number. Nobody hears of it. */
  eraseReactions(erasure: Erasure, limit: number): Promise<number>;
  /** Removes at most `limit` notes of what the user has hidden in one commit, and returns their number. Nobody hears of it. */
  eraseHidings(erasure: Erasure, limit: number): Promise<number>;
};

/** Finds when messages and system messages expire, by the database's clock, in milliseconds since the Unix epoch. */
export type ExpiryReads = {
  /** The time, and when the next one expires that is not ended yet. */
  next(): Promise<{ now: number; nextAt: number | undefined }>;
  /** Organizations with something that has expired by `now`, of the first `limit` of all. */
  dueOrganizations(now: number, limit: number): Promise<string[]>;
};

/** A message to append to: how long it is if it grows or has grown, and its event's text if not. */
export type FoundMessage = {
  cid: string;
  offset: number;
  sender: string;
  length: number | undefined;
  payload: string | undefined;
};

/** Reads messages that grow. */
export type OpenMessageReads = {
  /** A message that is there, whether or not it grows. */
  find(org: string, id: string): Promise<FoundMessage | undefined>;
  /** The time, and when the next one is complete because its sender is silent. */
  next(): Promise<{ now: number; nextAt: number | undefined }>;
  /** Organizations with such messages by `now`, of the first `limit` of all. */
  dueOrganizations(now: number, limit: number): Promise<string[]>;
};

/** Completes messages that grow. */
export type OpenMessageWrites = {
  /** Completes some of those whose senders are silent, in one commit. Returns their number. Rejects like `MessageChanges.edit`. */
  completeSome(org: string, now: number): Promise<number>;
};

/** Ends what has expired. */
export type ExpiryWrites = {
  /**
   * Takes the texts of some of what has expired by `now` out of the store, and tells it to whom it was addressed to like a recall, in
   * one commit. Returns their number, 0 if none is left. Rejects like `MessageChanges.edit`.
   */
  endSome(org: string, now: number): Promise<number>;
};
