import { bodyOf, grownPayload, lengthOf } from "../../contract/messages/append.ts";
import type { LogTransaction, Looking } from "../log/log-writer.ts";
import type { NewSend } from "../ports.ts";
import type { Row } from "../sql/driver.ts";
import { distinctRows } from "../sql/rows.ts";
import { findPieces, type PieceRow, piecesOf, silentMarkOf, textOf } from "./pieces.ts";

/** A message that grows or has grown. */
export type Growth = {
  id: string;
  org: string;
  cid: string;
  offset: number;
  sender: string;
  silent: boolean;
  /** In Unicode code points. */
  length: number;
  /** How many of them the row of the message holds. */
  folded: number;
  isOpen: boolean;
};

/** What a batch appends to one message, at a time of the database's clock. */
export type Growing = { growth: Growth; texts: string[]; lastOffset: number; isDone: boolean; at: number };

type GrowthRow = Row & {
  id: string;
  org: string;
  cid: string;
  offset: number;
  sender: string;
  silent: number | null;
  length: number;
  folded: number;
  open_since: number | null;
};

const fewestFolded = 2_048;
const foldedShare = 8;
const growthColumns = ["id", "org", "cid", "offset", "sender", "silent", "length", "folded", "open_since"];

/** Reads the messages that sends append to. Asks nothing if none does. */
export async function findGrowths({ rows }: Looking, sends: readonly NewSend[]): Promise<Map<string, Growth>> {
  const ids = sends.flatMap(({ org, piece }) => (piece === undefined ? [] : [{ id: piece.of, org }]));
  if (ids.length === 0) return new Map();
  const found = await rows.find<GrowthRow>("growth", growthColumns, distinctRows(ids));
  return new Map(found.map((row) => [row.id, toGrowth(row)]));
}

const findSilent = `SELECT ${growthColumns.map((column) => `"${column}"`).join(", ")} FROM growth
  WHERE org = ? AND open_since IS NOT NULL AND open_since <= ? ORDER BY open_since LIMIT ?`;

/** The messages of an organization that had their last piece before a time, in milliseconds since the Unix epoch, and are open. */
export async function findOpenSince(
  { all }: Pick<Looking, "all">,
  org: string,
  { before, limit }: { before: number; limit: number },
): Promise<Growth[]> {
  return (await all<GrowthRow>(findSilent, org, before, limit)).map(toGrowth);
}

function toGrowth({ id, org, cid, sender, silent, open_since, ...row }: GrowthRow): Growth {
  const numbers = { offset: Number(row.offset), length: Number(row.length), folded: Number(row.folded) };
  return { id, org, cid, sender, silent: silent !== null, isOpen: open_since !== null, ...numbers };
}

/** The row of a message that begins to grow, at a time of the database's clock. */
export function growthRow(
  { id, org, cid = "", sender, silent, payload }: NewSend,
  { offset, at }: { offset: number; at: number },
): Row {
  const length = lengthOf(bodyOf(payload) ?? "");
  const place = { id, org, cid, offset, sender, silent: silent ? 1 : null };
  return { ...place, length, folded: length, last_offset: offset, open_since: at };
}

/** Stores how far messages have grown, and now and then, and at the end, what they say in their own rows. */
export async function grow(transaction: LogTransaction, growing: readonly Growing[]): Promise<void> {
  const { sql } = transaction;
  const grown = await Promise.all(growing.map((one) => growOne(transaction, one)));
  await sql.rows.update("growth", ["id"], grown);
}

async function growOne(transaction: LogTransaction, { growth, texts, lastOffset, isDone, at }: Growing): Promise<Row> {
  const { id, length, folded } = growth;
  const added = texts.reduce((sum, text) => sum + lengthOf(text), 0);
  const unfolded = length + added - folded;
  const isFolded = isDone || unfolded >= Math.max(fewestFolded, folded / foldedShare);
  if (isFolded) await fold(transaction, growth, texts.join(""), isDone);
  return {
    id,
    length: length + added,
    folded: isFolded ? length + added : folded,
    last_offset: lastOffset,
    open_since: isDone ? null : at,
  };
}

/** Moves the pieces so far into the row of the message: with growing steps, so that all of them write but a multiple of its text. */
async function fold(
  { sql, recount }: LogTransaction,
  { id, org, offset, sender, silent, length, folded }: Growth,
  text: string,
  isDone: boolean,
): Promise<void> {
  const [[row], pieces] = await Promise.all([
    sql.rows.find<Row & { payload: string }>("event", ["payload"], [{ org, offset }]),
    length === folded
      ? []
      : sql.all<PieceRow>(findPieces(sql.dialect), ...piecesOf({ id, org, sender }, folded, length)),
  ]);
  const before = row?.payload ?? "";
  const body = `${bodyOf(before) ?? ""}${textOf(pieces)}${text}`;
  const payload = grownPayload(before, { body, isOpen: !isDone });
  if (payload === undefined) return;
  const changed = { org, offset, payload, silent: silentMarkOf({ silent, isOpen: !isDone }) };
  await sql.rows.update("event", ["org", "offset"], [changed]);
  recount(org, offset, Buffer.byteLength(payload) - Buffer.byteLength(before));
}
