import { releaseFiles } from "../files/files.ts";
import type { LogTransaction } from "../log/log-writer.ts";
import type { Row } from "../sql/driver.ts";
import { forgetAnswers } from "../webhooks/answers.ts";
import { forgetHidings } from "./hidden-rows.ts";
import { findPieces, type PieceRow, piecesOf } from "./pieces.ts";
import { forgetReactions } from "./reactions.ts";

type Found = {
  id: string;
  offset: number;
  cid: string | null;
  edit_offset: number | null;
  reactions: string | null;
  bytes: number;
};

/**
 * Events of an organization whose texts are to be removed at a time, in milliseconds since the Unix epoch; `hasExpired`: because they
 * have expired.
 */
export type Blanking = { org: string; offsets: readonly number[]; at: number; hasExpired?: true };

/**
 * Takes the texts of messages, and of the last edit of each, out of the database and off the organization's count, releases their
 * files, removes reactions to them, who has hidden them and what the receivers of webhooks answered, and returns the number of messages. The rows stay, so that offsets have
 * no holes, retries are still recognized, and clients can resume after them; they are played to nobody and shown nowhere. Messages
 * that are blank already stay as they are. Nobody hears of it: emit that in the same transaction.
 */
export async function blankMessages(
  transaction: LogTransaction,
  { org, offsets, at, hasExpired }: Blanking,
): Promise<number> {
  const messages = await findWithText(transaction, org, offsets);
  const editOffsets = messages.flatMap(({ edit_offset }) => (edit_offset === null ? [] : [Number(edit_offset)]));
  const edits = await findWithText(transaction, org, editOffsets);
  const also = { recalled_at: at, reactions: null, ...(!hasExpired && { expires_at: null }) };
  await blank(transaction, org, [...messages, ...edits], also);
  await forgetReactions(transaction, org, messages);
  await forgetHidings(transaction, org, messages);
  const eventIds = messages.map(({ id }) => id);
  await endGrowth(transaction, org, eventIds);
  if (messages.length > 0) await releaseFiles(transaction.sql, { org, eventIds, now: at });
  await forgetAnswers(transaction.sql, { org, eventIds });
  return messages.length;
}

/** Takes the texts of events that nobody needs any more out of the database: edits that others replace, and reactions. */
export async function blankEvents(
  transaction: LogTransaction,
  { org, offsets }: { org: string; offsets: readonly number[] },
): Promise<void> {
  await blank(transaction, org, await findWithText(transaction, org, offsets));
}

/** Those of the events whose text is still there. */
async function findWithText({ sql }: LogTransaction, org: string, offsets: readonly number[]): Promise<Found[]> {
  if (offsets.length === 0) return [];
  const find = `SELECT id, "offset", cid, edit_offset, reactions, OCTET_LENGTH(payload) AS bytes FROM event WHERE org = ?
    AND "offset" IN (${sql.dialect.givenNumbers}) AND OCTET_LENGTH(payload) > 0`;
  return await sql.all<Found>(find, org, JSON.stringify(offsets));
}

async function blank(
  { sql, recount }: LogTransaction,
  org: string,
  events: readonly Found[],
  also: { recalled_at?: number; expires_at?: null; reactions?: null } = {},
): Promise<void> {
  const rows = events.map(({ offset }) => ({ org, offset: Number(offset), payload: "", ...also }));
  await sql.rows.update("event", ["org", "offset"], rows);
  for (const { offset, bytes } of events) recount(org, Number(offset), -Number(bytes));
  sql.forget();
}

type Grown = Row & { id: string; org: string; sender: string };

/** Takes the pieces of messages out of the store, which are gone or say something else: nothing of them is played again. */
export async function endGrowth(transaction: LogTransaction, org: string, ids: readonly string[]): Promise<void> {
  const { sql } = transaction;
  if (ids.length === 0) return;
  const found = await sql.rows.find<Grown>(
    "growth",
    ["id", "org", "sender"],
    ids.map((id) => ({ id, org })),
  );
  for (const row of found) {
    const pieces = await sql.all<PieceRow & { offset: number }>(findPieces(sql.dialect), ...piecesOf(row, 0));
    await blankEvents(transaction, { org, offsets: pieces.map(({ offset }) => Number(offset)) });
    await sql.run("DELETE FROM growth WHERE id = ? AND org = ?", row.id, org);
  }
}
