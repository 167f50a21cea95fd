import type { NamedFile } from "../files/ports.ts";
import type { KeyProof } from "../ports.ts";

/**
 * One thing to be imported. A user, conversation or participant that is there already stays, with a name only where one
 * is given; participants are added and never removed.
 */
export type ImportItem =
  | { kind: "user"; id: string; name: string | null | undefined; isBlocked: boolean | undefined }
  | { kind: "conversation"; id: string; name: string | null | undefined }
  | { kind: "participants"; cid: string; uids: string[] }
  | ImportedMessage;

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
};

/** Why an item was not imported. */
export type ImportFault =
  /** Its conversation does not exist. */
  | "conversation"
  /** The conversation would have too many participants. */
  | "participants"
  /** There is another message of this id. */
  | "conflict"
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

/** Imports users, conversations, participants and messages of the past. */
export type ImportWrites = {
  /**
   * Imports a part in one commit. Participants are heard of like any other change of membership; messages are delivered
   * to nobody. What is there already is not written again. `undefined` if there is no such organization.
   */
  add(part: ImportPart): Promise<ImportOutcome | undefined>;
  /** The outcome that `add` would have. Stores nothing. Conversations of `also` count as existing. */
  check(part: ImportPart, also: readonly string[]): Promise<ImportOutcome | undefined>;
};

/** The text of a stored message: `rest` begins after the value of `_id`. */
export function payloadOf({ id, rest }: Pick<ImportedMessage, "id" | "rest">): string {
  return `{"message":{"_id":"${id}"${rest}`;
}

/** The place of an export in the log: what came later is left out. */
export type ExportOf = { org: string; head: number };

/** A user or conversation to be exported. */
export type ExportedEntity = { id: string; name: string | null; isBlocked: boolean };

/** A participant to be exported. */
export type ExportedParticipant = { cid: string; uid: string };

/** A message to be exported, with the id that an import will know it by, and the text of its event. */
export type ExportedMessage = { importId: string; payload: string };

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
   * The messages of all or of a user, imported or sent, among the first events after an offset, in the order of the log,
   * and the offset of the last of these events; `undefined` at the end.
   */
  messages(
    of: ExportOf,
    after: number,
    sender?: string,
  ): Promise<{ messages: ExportedMessage[]; last: number } | undefined>;
};
