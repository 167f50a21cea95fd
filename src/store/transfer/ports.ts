import type { NamedFile } from "../files/ports.ts";
import type { Marks } from "../inbox/ports.ts";
import type { KeyProof } from "../ports.ts";

/**
 * One thing to be imported. A user, conversation or participant that is there already stays, with a name only where one
 * is given; participants are added and never removed.
 */
export type ImportItem =
  | { kind: "user"; id: string; name: string | null | undefined; isBlocked: boolean | undefined }
  | { kind: "conversation"; id: string; name: string | null | undefined }
  | { kind: "participants"; cid: string; uids: string[] }
  | ImportedMessage
  | ImportedReaction
  | ImportedSystemMessage
  | ImportedRecipients
  | ImportedRead
  | ImportedRange;

/** A message of the past. */
export type ImportedMessage = {
  kind: "message";
  /** Its id in the import, which it is recognized by, or the id of a message of the organization. */
  importId: string;
  /** The id to store it with, a UUIDv7 of the time `createdAt`. */
  id: string;
  cid: string;
  sender: string;
  /** The text of the event after its `_id`: `payloadOf` joins them. */
  rest: string;
  /** The files that it names. One that the organization does not have is announced under its id. */
  files: readonly Omit<NamedFile, "isGiven">[];
  /** Milliseconds since the Unix epoch. */
  createdAt: number;
  expiresAt?: number | undefined;
};

/**
 * A reaction to the message that an import knows by the id `mid`. Does nothing without that, or if it is gone, or if the user has reacted so
 * already.
 */
export type ImportedReaction = { kind: "reaction"; mid: string; sender: string; reaction: string };

/** A system message for the inboxes of users or, with an empty list, of a conversation, or of everyone. */
export type ImportedSystemMessage = {
  kind: "system_message";
  /** The id of its event, which it is recognized by. */
  id: string;
  mid: string;
  cid: string | undefined;
  sender: string;
  /** Whom it lists. Of many, those are not among `recipients` who follow as `recipients` items, so that no part is too large. */
  uids: string[];
  recipients: string[];
  /** Whether it is not kept any more, so that only its place and its key are stored. */
  isOver: boolean;
  /** The text of the event; empty if it is over. */
  payload: string;
  /** Until when it is kept, which has passed if it is over, and its key. */
  kept: { until: number; key: string | undefined };
  silent: true | undefined;
  /** Milliseconds since the Unix epoch. */
  createdAt: number;
  /** The same; `undefined` if it is over. */
  expiresAt?: number | undefined;
};

/** Users whose inboxes a system message is put into, if it is there; they must exist. */
export type ImportedRecipients = {
  kind: "recipients";
  of: Pick<ImportedSystemMessage, "id" | "mid" | "sender" | "isOver" | "kept" | "silent" | "expiresAt">;
  uids: string[];
};

/** When a user has seen and read the system message of an event. Does nothing without that, or if it is marked. */
export type ImportedRead = {
  kind: "system_message_read";
  uid: string;
  eventId: string;
  seenAt: number;
  readAt: number | undefined;
};

/**
 * Which imported system messages to a conversation, or to everyone, an inbox has: those after an event. With `upTo` those up to another,
 * also of a user who does not take part. Does nothing without these events, and never takes out what a user had by another line.
 */
export type ImportedRange = {
  kind: "inbox_range";
  uid: string;
  cid: string | undefined;
  after: string | undefined;
  upTo: string | undefined;
};

/** Why an item was not imported. */
export type ImportFault =
  /** Its conversation does not exist. */
  | "conversation"
  /** A user that it names does not exist. */
  | { user: string }
  /** The conversation would have too many participants. */
  | "participants"
  /** There is another message of this id. */
  | "conflict"
  /** The message would have too many different reactions. */
  | "reactions"
  /** The organization may store no more. */
  | "room";

/** A part of an import, small enough for one commit: `rowsOfImport` of the dialect. */
export type ImportPart = {
  org: string;
  items: readonly ImportItem[];
  maxParticipants: number;
  /** Whether new messages may be stored. */
  hasRoom: boolean;
  /** The key that imports, kept for operators. */
  keyId: string;
  /** The same, if it is in the table: it must still be valid when the part is stored. */
  by?: KeyProof | undefined;
  now: number;
};

/**
 * The faults of a part, by the index of the item; items without one are stored, or were already. `written` is the number
 * of items of which something was stored; `gaveIds` says that messages could not keep the ids that they came with.
 */
export type ImportOutcome = { faults: [index: number, fault: ImportFault][]; written: number; gaveIds: boolean };

/** Imports users, conversations, participants, messages of the past and inboxes. */
export type ImportWrites = {
  /**
   * Imports a part in one commit. Participants are heard of like any other change of membership; messages are delivered
   * to nobody. What is there already is not written again. `undefined` if there is no such organization.
   */
  add(part: ImportPart): Promise<ImportOutcome | undefined>;
  /** The outcome that `add` would have. Stores nothing. What `also` adds counts as existing. */
  check(part: ImportPart, also: readonly ImportItem[]): Promise<ImportOutcome | undefined>;
};

/** The text of a stored message: `rest` begins after the value of `_id`. */
export function payloadOf({ id, rest }: Pick<ImportedMessage, "id" | "rest">): string {
  return `{"message":{"_id":"${id}"${rest}`;
}

/** The place of an export in the log, what came later is left out; and its time, in milliseconds since the Unix epoch. */
export type ExportOf = { org: string; head: number; now: number };

/** A user or conversation to be exported. */
export type ExportedEntity = { id: string; name: string | null; isBlocked: boolean };

/** A participant to be exported. */
export type ExportedParticipant = { cid: string; uid: string };

/** A message to be exported, with the id that an import will know it by, and the text of its event. */
export type ExportedMessage = {
  kind: "message";
  importId: string;
  payload: string;
  cid: string;
  offset: number;
  /** Whether anybody has reacted to it. */
  isReactedTo: boolean;
};

/** A reaction to be exported. */
export type ExportedReaction = { mid: string; sender: string; reaction: string };

/** Where a page of reactions begins: after this one. */
export type ReactionPlace = { cid: string; offset: number; reaction: string; uid: string };

/** What an import will know a system message by. `createdAt`: in milliseconds since the Unix epoch. */
export type SystemMessageName = { sender: string; id: string; createdAt: number };

/** A system message to be exported. */
export type ExportedSystemMessage = SystemMessageName & {
  kind: "system_message";
  cid: string | undefined;
  /** Who has it of those whom it lists; `undefined` if it was sent to a conversation, or to everyone. */
  uids: string[] | undefined;
  key: string | undefined;
  /** The text of its event, and until when it is kept; `undefined` if it is not kept any more. */
  kept: { payload: string; until: number } | undefined;
};

/** A system message in a user's inbox. */
export type ExportedInboxItem = SystemMessageName & { offset: number };

/** The same, with the text of its event. */
export type ExportedInboxMessage = ExportedInboxItem & { cid: string | undefined; keptUntil: number; payload: string };

/** Between which offsets a user had what was addressed to a conversation, or to everyone; `isThere`: and takes part still. */
export type ExportedStays = { uid: string; isThere: boolean; ranges: Range[] };

/** What lies after an offset, up to another one. */
export type Range = { after: number; upTo: number };

/** Reads what an export contains, page by page, each in a statement of its own. */
export type ExportReads = {
  /** The first users after one, in the order of ids. */
  users(of: ExportOf, after: string, limit: number): Promise<ExportedEntity[]>;
  /** The first conversations after one, of all or of a user, in the order of ids. */
  conversations(of: ExportOf, after: string, limit: number, uid?: string): Promise<ExportedEntity[]>;
  /** The first participants of the conversations after one, up to another, in the order of conversations and users. */
  participantsBetween(of: ExportOf, after: string, upTo: string, limit: number): Promise<ExportedParticipant[]>;
  /** The first participants of a conversation after one, in the order of ids. */
  participantsAfter(of: ExportOf, last: ExportedParticipant, limit: number): Promise<ExportedParticipant[]>;
  /**
   * The messages and kept system messages of all, or the messages of a user, imported or sent, among the first events after an
   * offset, in the order of the log, and the offset of the last of these events; `undefined` at the end. Of system messages that are
   * not kept any more, those with a key are there, because of what they have replaced.
   */
  events(
    of: ExportOf,
    after: number,
    sender?: string,
  ): Promise<{ events: (ExportedMessage | ExportedSystemMessage)[]; last: number } | undefined>;
};

/** Reads the reactions of an export. */
export type ReactionExportReads = {
  /** The first reactions to a message after one, in the order of users. */
  reactionsTo(
    of: ExportOf,
    message: ExportedMessage,
    after: Pick<ReactionPlace, "uid" | "reaction"> | undefined,
  ): Promise<ExportedReaction[]>;
  /** The first reactions of a user after one, in the order of conversations and messages, and where the next ones begin. */
  reactionsOf(
    of: ExportOf,
    uid: string,
    after: ReactionPlace | undefined,
  ): Promise<{ reactions: ExportedReaction[]; last: ReactionPlace | undefined }>;
};

/** Reads what an export contains of inboxes. What is addressed to a conversation is, without one, addressed to everyone. */
export type InboxExportReads = {
  /** The first conversation after one, or after `""`, that system messages are addressed to. */
  nextConversation(of: ExportOf, after: string): Promise<string | undefined>;
  /** Where those lie that `events` has of it, in order. */
  addressed(of: ExportOf, cid: string | undefined): Promise<number[]>;
  /** What those at some offsets are known by. */
  names(of: ExportOf, cid: string | undefined, offsets: readonly number[]): Promise<Map<number, SystemMessageName>>;
  /** When the first users after one were there, in the order of ids. */
  stays(of: ExportOf, cid: string | undefined, after: string, limit: number): Promise<ExportedStays[]>;
  /** What the first users after one have marked, in the order of ids. */
  marks(of: ExportOf, after: string, limit: number): Promise<{ uid: string; marks: Marks }[]>;
  /** The first items of a range in the inbox of a user, in the order of the log: `rowsOfStatement`, or all. */
  items(of: ExportOf, uid: string, range: Range): Promise<ExportedInboxItem[]>;
  /** The first items after an offset, in the order of the log, of some 256 KiB; none at the end. */
  inbox(of: ExportOf, uid: string, after: number): Promise<ExportedInboxMessage[]>;
};
