import { createMapping, type Mapped, number, optional, text } from "../sql/mapping.ts";

/** The columns of files. Sizes in bytes, times in milliseconds since the Unix epoch. */
export const storedFiles = createMapping({
  org: text("org"),
  id: text("id"),
  name: text("name"),
  contentType: text("content_type"),
  size: number("size"),
  /** In hexadecimal; `undefined` until the bytes are there. */
  sha256: optional(text("sha256")),
  /** Under which the bytes are stored, if they are. */
  bytesId: optional(text("bytes_id")),
  createdAt: number("created_at"),
  /** Until when it is kept although no message names it; `undefined` while one does. */
  keepUntil: optional(number("keep_until")),
});

/** What is known of a file. */
export type StoredFile = Mapped<typeof storedFiles>;

/** Bytes that were uploaded, and what they turned out to be. */
export type UploadedBytes = Required<Pick<StoredFile, "contentType" | "size">> & { bytesId: string; sha256: string };

/** A file that a send names. `isGiven`: the caller gave its id, so it must be there; otherwise the send announces it. */
export type NamedFile = Pick<StoredFile, "id" | "name" | "contentType" | "size"> & { isGiven: boolean };

/** Bytes that nobody needs any more. */
export type UnwantedBytes = { id: string; org: string };

/** Reads what is known of files. */
export type FileReads = {
  get(org: string, id: string): Promise<StoredFile | undefined>;
  /** Those of the files that there are. */
  among(org: string, ids: readonly string[]): Promise<StoredFile[]>;
  /** The files of that id, of any organization. */
  find(id: string): Promise<StoredFile[]>;
  /** Those of the ids that a message of a conversation names in which the user takes part now. */
  readableBy(org: string, uid: string, ids: string[]): Promise<Set<string>>;
};

/** Writes what is known of files. The bytes themselves are written elsewhere, in between. */
export type FileWrites = {
  /** Notes that bytes are about to be written, so that they are removed if nothing comes of it. False without the organization. */
  begin(org: string, bytesId: string, now: number): Promise<boolean>;
  /** Stores a file whose bytes were written, and counts them. False without the organization. */
  create(
    file: { org: string; id: string; name: string; now: number; keepUntil: number } & UploadedBytes,
  ): Promise<boolean>;
  /**
   * Gives a file its bytes, or other ones. Returns the file as it was, or `undefined` if there is none.
   */
  replace(place: { org: string; id: string; now: number } & UploadedBytes): Promise<StoredFile | undefined>;
  /** Removes a file. Its bytes are unwanted then. False if there is none. */
  remove(org: string, id: string, now: number): Promise<boolean>;
  /** Says that bytes are not needed, such as those of an upload that broke off. */
  discard(bytesId: string, org: string, now: number): Promise<void>;
};

/** What keeps the stored files and bytes to those that are needed. Each call does at most `limit` rows, and returns how many. */
export type FileUpkeep = {
  /** Releases files from messages that are gone or were taken back. Looks at one page after another, and then begins again. */
  release(
    after: AttachmentPlace | undefined,
    options: { limit: number; now: number },
  ): Promise<AttachmentPlace | undefined>;
  /** Removes files that no message names and whose time is over. */
  expire(now: number, limit: number): Promise<number>;
  /** Bytes that are unwanted, or whose upload began before a time and never ended. */
  unwanted(arrivingBefore: number, limit: number): Promise<UnwantedBytes[]>;
  /** Forgets bytes that were removed. */
  forget(ids: string[]): Promise<void>;
};

/** Where an attachment lies among all. */
export type AttachmentPlace = { eventId: string; org: string; fileId: string };

/** Stored bytes, none of which are read yet. */
export type StoredBytes = {
  /** Those from `start` up to, but without, `end`, read as they are taken. */
  part(start: number, end: number): Blob | ReadableStream<Uint8Array>;
  /** An address of the store itself, for a minute, that answers with these headers; absent if clients do not read there. */
  addressAs?(headers: { disposition: string; type: string }): string;
};

/** Stores the bytes of files: on a disk, or in a bucket. */
export type FileBytes = {
  /**
   * Stores bytes as they come. They survive any crash once it resolves. Leaves nothing if it rejects: with `storage_full` or
   * `unavailable`, or as `pieces` does.
   */
  write(id: string, pieces: AsyncIterable<Uint8Array>): Promise<void>;
  /** The bytes, or `undefined` if there are none. */
  read(id: string): Promise<StoredBytes | undefined>;
  /** Removes bytes, if there are any. */
  remove(id: string): Promise<void>;
};
