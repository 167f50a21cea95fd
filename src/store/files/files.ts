import { anyBytes } from "../../contract/files.ts";
import { isLiveOrganization } from "../directory/entity.ts";
import type { LogTransaction, LogWriter } from "../log/log-writer.ts";
import { isMessageOf, isOfConversation } from "../log/past.ts";
import { hasText } from "../messages/expiry-rule.ts";
import type { Dialect } from "../sql/dialect.ts";
import type { Reader, Transaction } from "../sql/driver.ts";
import type { ImportedMessage } from "../transfer/ports.ts";
import {
  type FileReads,
  type FileWrites,
  type NamedFile,
  type StoredFile,
  storedFiles,
  type UploadedBytes,
} from "./ports.ts";

const { columns, write } = storedFiles;
const isLive = isLiveOrganization("file.org");
const getOne = `SELECT ${columns} FROM file WHERE org = ? AND id = ? AND ${isLive}`;
const findAll = `SELECT ${columns} FROM file WHERE id = ? AND ${isLive} ORDER BY org`;
const putBytes = "UPDATE file SET content_type = ?, size = ?, sha256 = ?, bytes_id = ? WHERE org = ? AND id = ?";
const setState = "UPDATE file_bytes SET state = ?, changed_at = ? WHERE id = ?";
const removeOne = "DELETE FROM file WHERE org = ? AND id = ?";
const findSame = "SELECT bytes_id FROM file WHERE org = ? AND sha256 = ? AND bytes_id IS NOT NULL LIMIT 1";
const findUse = "SELECT id FROM file WHERE org = ? AND sha256 = ? AND bytes_id = ? LIMIT 1";

/** The condition that the message `e` is to be seen in its conversation `c`. */
export function isShown(dialect: Dialect): string {
  return `${isMessageOf("e")} AND ${hasText(dialect, "e")} AND ${isOfConversation}`;
}

/** Creates the reads of files. */
export function createFileReads({ reader }: { reader: Reader }): FileReads {
  const { dialect } = reader;
  const findReadable = `SELECT DISTINCT a.file_id AS id FROM attachment a
    JOIN event e ON e.id = a.event_id AND e.org = a.org
    JOIN conversation c ON c.org = e.org AND c.id = e.cid
    JOIN participant p ON p.org = e.org AND p.cid = e.cid AND p.uid = ?
    WHERE a.org = ? AND a.file_id IN (${dialect.givenTexts}) AND ${isShown(dialect)}`;
  const findAmong = `SELECT ${columns} FROM file WHERE org = ? AND id IN (${dialect.givenTexts}) AND ${isLive}`;
  return {
    among: (org, ids) => storedFiles.readAll(reader.allOf(org, findAmong, org, JSON.stringify(ids))),
    get: (org, id) => storedFiles.readFirst(reader.allOf(org, getOne, org, id)),
    find: (id) => storedFiles.readAll(reader.allOfEvery(findAll, id)),
    async readableBy(org, uid, ids) {
      const found = await reader.allOf<{ id: string }>(org, findReadable, uid, org, JSON.stringify(ids));
      return new Set(found.map(({ id }) => id));
    },
  };
}

/** Creates the writes of files. All lock the organization. */
export function createFileWrites({ writer }: { writer: LogWriter }): FileWrites {
  return {
    begin: (org, bytesId, now) =>
      writer.change(org, false, async ({ sql }) => {
        await sql.rows.insert("file_bytes", [{ id: bytesId, org, state: "arriving", changed_at: now }]);
        return true;
      }),
    create: ({ org, id, name, now, keepUntil, ...bytes }) =>
      writer.change(org, false, async (transaction) => {
        const bytesId = await keep(transaction, org, bytes, now);
        const file = { org, id, name, ...bytes, bytesId, createdAt: now, keepUntil };
        await transaction.sql.rows.insert("file", [write(file)]);
        return true;
      }),
    replace: ({ org, id, now, ...bytes }) =>
      writer.change(org, undefined, async (transaction) => {
        const { sql } = transaction;
        const before = await storedFiles.readFirst(sql.all(getOne, org, id));
        if (before === undefined) return undefined;
        const bytesId = await keep(transaction, org, bytes, now);
        await sql.run(putBytes, bytes.contentType, bytes.size, bytes.sha256, bytesId, org, id);
        await release(transaction, before, now);
        return before;
      }),
    remove: (org, id, now) =>
      writer.change(org, false, async (transaction) => {
        const file = await storedFiles.readFirst(transaction.sql.all(getOne, org, id));
        if (file === undefined) return false;
        await removeFiles(transaction, [file], now);
        return true;
      }),
    discard: async (bytesId, org, now) => {
      await writer.transaction([org], ({ sql }) => sql.run(setState, "unwanted", now, bytesId));
    },
  };
}

/** Removes files of an organization, which the transaction has locked. Bytes that no other file has are unwanted from then on. */
export async function removeFiles(
  transaction: LogTransaction,
  files: readonly StoredFile[],
  now: number,
): Promise<void> {
  const { sql } = transaction;
  for (const file of files) {
    await sql.run(removeOne, file.org, file.id);
    await release(transaction, file, now);
  }
  if (files.length > 0) sql.forget();
}

/** What a batch of sends stores of the files that they name: announces new ones, and keeps those that are there. */
export function nameFiles(
  { rows }: Transaction,
  sends: readonly { org: string; id: string; files: readonly NamedFile[]; createdAt: number }[],
): Promise<unknown> {
  const named = sends.flatMap(({ files, ...send }) => files.map((file) => ({ ...send, file })));
  const announced = named.flatMap(({ org, file, createdAt }) =>
    file.isGiven ? [] : [write({ org, ...file, createdAt })],
  );
  const kept = named.flatMap(({ org, file: { id, isGiven } }) => (isGiven ? [{ org, id, keep_until: null }] : []));
  const attachments = named.map(({ org, id: event_id, file }) => ({ org, file_id: file.id, event_id }));
  return Promise.all([
    rows.insert("file", announced),
    rows.update("file", ["org", "id"], kept),
    rows.insert("attachment", attachments, "skip"), // a message may name a file twice
  ]);
}

/** What a part of an import stores of the files that its messages name: those that are not there are announced under their ids. */
export async function nameImportedFiles(
  sql: Transaction,
  { org, messages, now }: { org: string; messages: readonly ImportedMessage[]; now: number },
): Promise<void> {
  const ids = new Set(messages.flatMap(({ files }) => files.map(({ id }) => id)));
  if (ids.size === 0) return;
  const keys = Array.from(ids, (id) => ({ org, id }));
  const found = await sql.rows.find<{ id: string }>("file", ["id"], keys);
  const known = new Set(found.map(({ id }) => id));
  const toNamed = (file: ImportedMessage["files"][number]): NamedFile => {
    const isGiven = known.has(file.id);
    known.add(file.id); // others of the part may name it, too
    return { ...file, isGiven };
  };
  const named = messages.map(({ id, files }) => ({ org, id, files: files.map(toNamed), createdAt: now }));
  sql.lastly(nameFiles(sql, named));
}

/** Releases the files of messages: those that no other message names lose their names, and may be removed at once. */
export async function releaseFiles(
  sql: Transaction,
  { org, eventIds, now }: { org: string; eventIds: readonly string[]; now: number },
): Promise<void> {
  const events = `(${sql.dialect.givenTexts})`;
  const ids = JSON.stringify(eventIds);
  const release = `UPDATE file SET keep_until = ?, name = '', content_type = '${anyBytes}' WHERE org = ?
    AND id IN (SELECT file_id FROM attachment WHERE org = ? AND event_id IN ${events})
    AND NOT EXISTS (SELECT 1 FROM attachment a WHERE a.org = file.org AND a.file_id = file.id AND a.event_id NOT IN ${events})`;
  await sql.run(release, now, org, org, ids, ids);
  await sql.run(`DELETE FROM attachment WHERE org = ? AND event_id IN ${events}`, org, ids);
}

/** Keeps bytes that were uploaded, unless the organization has the same already. Returns the id of those that it has then. */
async function keep(
  { sql, count }: LogTransaction,
  org: string,
  { bytesId, size, sha256 }: UploadedBytes,
  now: number,
): Promise<string> {
  const [same] = await sql.all<{ bytes_id: string }>(findSame, org, sha256);
  await sql.run(setState, same === undefined ? "kept" : "unwanted", now, bytesId);
  if (same === undefined) count(org, size);
  return same?.bytes_id ?? bytesId;
}

/** Gives up the bytes of a file as it was, unless a file has them. */
async function release(
  { sql, count }: LogTransaction,
  { org, bytesId, sha256 = "", size }: StoredFile,
  now: number,
): Promise<void> {
  if (bytesId === undefined || (await sql.all(findUse, org, sha256, bytesId)).length > 0) return;
  await sql.run(setState, "unwanted", now, bytesId);
  count(org, -size);
}
