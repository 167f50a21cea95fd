import { toSeconds } from "../../contract/identifiers.ts";
import { appendPayload, grownPayload, lengthOf, midOfPiece } from "../../contract/messages/append.ts";
import { isObject, objectWith } from "../../lib/json/json-values.ts";
import type { NewSend } from "../ports.ts";
import type { Dialect } from "../sql/dialect.ts";
import type { Reader, Row } from "../sql/driver.ts";
import { hiderValues, isNotHidden } from "./hidden-rule.ts";
import type { GrownMessage, MissedEvent } from "./ports.ts";

/** A piece as its row holds it, and where its event is. */
export type PieceRow = Row & { mid: string; payload: string };

/** The message of pieces. */
type Grower = { id: string; org: string; sender: string };

/** What the column `silent` of a message says: that it counts as unread nowhere, as it was sent so or is not complete. */
const silentMarks = { silent: 1, open: 2, openAndSilent: 3 } as const;

/** That column of an event. */
export function silentMarkOf({ silent, isOpen }: { silent?: boolean | undefined; isOpen?: boolean | undefined }) {
  if (isOpen) return silent ? silentMarks.openAndSilent : silentMarks.open;
  return silent ? silentMarks.silent : null;
}

/** Whether a message is not complete. */
export const isOpen = ({ silent }: { silent: number | null }) => silent !== null && silent >= silentMarks.open;

const idLength = 36; // of a UUID
const [more, last] = [".", "!"]; // what the payload of a piece begins with, before its text
/** The payload of the row of a piece: its text, and whether it is the last one. */
export function storedPiece({ text, isDone }: Pick<NonNullable<NewSend["piece"]>, "text" | "isDone">): string {
  return `${isDone ? last : more}${text}`;
}

/** The SQL columns of an event that a piece needs besides, which are empty for all others, and whether it is a message that has grown. */
export function pieceColumns(event: string): string {
  const ofPiece = (value: string, name: string) => `CASE WHEN ${event}.kind = 'append' THEN ${value} END AS ${name}`;
  const ofMessage = (column: string) =>
    `(SELECT g.${column} FROM growth g WHERE g.id = SUBSTR(${event}.mid, 1, ${idLength}) AND g.org = ${event}.org)`;
  return [
    ofPiece(`${event}.mid`, "piece"),
    ofPiece(`${event}.sender`, "piece_from"),
    ofPiece(`${event}.created_at`, "piece_at"),
    ofPiece(ofMessage("cid"), "piece_cid"),
    ofPiece(ofMessage('"offset"'), "piece_of"),
    `CASE WHEN ${event}.kind = 'message' THEN (SELECT 1 FROM growth g WHERE g.id = ${event}.id AND g.org = ${event}.org) END AS grown`,
  ].join(", ");
}

/** Those columns. */
export type PieceColumns = {
  piece: string | null;
  piece_from: string | null;
  piece_at: number | null;
  piece_cid: string | null;
  piece_of: number | null;
  grown: number | null;
};

/** What the row of a piece says; `undefined` if its text or its message is gone. */
export function readPiece(
  row: PieceColumns & { payload: string },
): { cid: string; payload: string; completes: number | undefined } | undefined {
  const { piece, piece_from: from, piece_cid: cid, payload } = row;
  if (payload === "" || piece === null || from === null || cid === null) return undefined;
  const done = payload.startsWith(last);
  const said = { id: idIn(piece), cid, from, offset: offsetIn(piece), text: payload.slice(1), done };
  return {
    cid,
    payload: appendPayload({ ...said, t: toSeconds(Number(row.piece_at)) }),
    completes: done ? Number(row.piece_of) : undefined,
  };
}

const idIn = (mid: string) => mid.slice(0, idLength);
const offsetIn = (mid: string) => Number(mid.slice(idLength + 1));

/**
 * The SQL of pieces, `p`, with the values of `piecesOf`: by the index of the ids of sends, also where the planner does not know yet
 * that one organization and sender have most events.
 */
const fromPieces = ({ joinEach }: Dialect) =>
  `FROM (SELECT 1) AS once ${joinEach("event", "p", "p.mid >= ? AND p.mid < ? AND p.sender = ?")} WHERE p.org = ? AND p.kind = 'append'`;

/** The SQL of pieces in their order, with the values of `piecesOf`. */
export const findPieces = (dialect: Dialect) =>
  `SELECT p.mid, p.payload, p."offset" ${fromPieces(dialect)} ORDER BY p.mid`;

/** The message, and between which of its characters to find pieces. */
export function piecesOf({ id, org, sender }: Grower, from: number, upTo?: number): string[] {
  return [midOfPiece(id, from), upTo === undefined ? `${id};` : midOfPiece(id, upTo), sender, org];
}

/** What pieces say together. */
export const textOf = (pieces: readonly PieceRow[]) => pieces.map(({ payload }) => payload.slice(1)).join("");

/** A message that may be open, as its row holds it. */
type GrowingRow = { payload: string | null; silent: number | null };

/** Those of the rows that are open with all their text so far. */
export async function withPieces<Found extends GrowingRow>(
  reader: Reader,
  org: string,
  rows: readonly Found[],
): Promise<Found[]> {
  if (!rows.some(isOpen)) return [...rows];
  return await Promise.all(
    rows.map(async (row) => (isOpen(row) ? { ...row, payload: await wholePayload(reader, org, row.payload) } : row)),
  );
}

async function wholePayload<Payload extends string | null>(reader: Reader, org: string, payload: Payload) {
  const said = messageIn(payload);
  if (said === undefined || payload === null) return payload;
  const { id, sender, body } = said;
  const pieces = await reader.allOf<PieceRow>(
    org,
    findPieces(reader.dialect),
    ...piecesOf({ id, org, sender }, lengthOf(body)),
  );
  return grownPayload(payload, { body: body + textOf(pieces), isOpen: true }) ?? payload;
}

type GrownRow = Row & { id: string; cid: string; sender: string; offset: number; log_start: number };

// The plus keeps SQLite from starting the scan there.
const findGrownOf = `SELECT g.id, g.cid, g.sender, g."offset", p.log_start FROM participant p
  JOIN conversation c ON c.org = p.org AND c.id = p.cid
  JOIN growth g ON g.org = p.org AND g.cid = p.cid AND g.last_offset > ? AND +g."offset" > c.log_start AND +g."offset" <= ?
  WHERE p.org = ? AND p.uid = ? AND ${isNotHidden({ org: "g.org", cid: "g.cid", offset: 'g."offset"' })}`;

/** The messages of a user's conversations up to `since` that have grown after it, and that the user has not hidden. */
export async function findGrown(
  reader: Reader,
  { org, uid, since }: { org: string; uid: string; since: number },
): Promise<GrownMessage[]> {
  const rows = await reader.allOf<GrownRow>(org, findGrownOf, since, since, org, uid, ...hiderValues(org, uid));
  return rows.map(({ id, cid, sender, offset, log_start }) => {
    const isRecipient = Number(offset) > Number(log_start);
    return { id, org, cid, sender, offset: Number(offset), isRecipient };
  });
}

type RestRow = PieceRow & { id: string; offset: number; created_at: number };

const findRest = (dialect: Dialect) =>
  `SELECT p.mid, p.payload, p.id, p."offset", p.created_at ${fromPieces(dialect)} AND p."offset" > ? AND p."offset" <= ? ORDER BY p.mid`;

/** All that a message has grown by between two offsets of the log, as one piece; `undefined` if there is nothing, or it is gone. */
export async function readRest(
  reader: Reader,
  grown: GrownMessage,
  { since, head }: { since: number; head: number },
): Promise<MissedEvent | undefined> {
  const { id, org, cid, sender: from, isRecipient } = grown;
  const values = piecesOf({ id, org, sender: from }, 0);
  const pieces = await reader.allOf<RestRow>(org, findRest(reader.dialect), ...values, since, head);
  const [first, end] = [pieces[0], pieces.at(-1)];
  if (first === undefined || end === undefined || pieces.some(({ payload }) => payload === "")) return undefined;
  const done = end.payload.startsWith(last);
  const t = toSeconds(Number(end.created_at));
  const payload = appendPayload({ id, cid, from, offset: offsetIn(first.mid), text: textOf(pieces), done, t });
  const event = { offset: Number(end.offset), kind: "append" as const, id: end.id, cid, payload, isRecipient };
  return done ? { ...event, completes: grown.offset } : event;
}

type MissedMessage = GrowingRow & { id: string; kind: string };

/** The rows of events, in which messages say what they said when the log ended at `head`. */
export async function asGrownAt<Found extends MissedMessage>(
  reader: Reader,
  org: string,
  rows: readonly Found[],
  head: number,
): Promise<Found[]> {
  const ids = rows.flatMap(({ kind, id }) => (kind === "message" ? [id] : []));
  if (ids.length === 0) return [...rows];
  const findLater = `SELECT id FROM growth WHERE org = ? AND id IN (${reader.dialect.givenTexts}) AND last_offset > ?`;
  const whole = await withPieces(reader, org, rows);
  // Asked after that, so that no piece is read that came later, and not noticed.
  const found = await reader.allOf<{ id: string }>(org, findLater, org, JSON.stringify(ids), head);
  const later = new Set(found.map(({ id }) => id));
  if (later.size === 0) return whole;
  return await Promise.all(whole.map(async (row) => (later.has(row.id) ? await cutAt(reader, org, row, head) : row)));
}

type LoggedRow = GrowingRow & { offset: number; payload: string; grown: number | null };

/** The rows of events, in which messages say what they said when they were sent: the log has what was added as pieces. */
export async function asSent<Found extends LoggedRow>(
  reader: Reader,
  org: string,
  rows: readonly Found[],
): Promise<Found[]> {
  const isGrown = ({ grown, payload }: Found) => grown !== null && payload !== "";
  if (!rows.some(isGrown)) return [...rows];
  return await Promise.all(
    rows.map(async (row) => (isGrown(row) ? await cutAt(reader, org, row, Number(row.offset)) : row)),
  );
}

const findNext = (dialect: Dialect) => `SELECT p.mid ${fromPieces(dialect)} AND p."offset" > ? ORDER BY p.mid LIMIT 1`;

/** A message without the pieces after an offset of the log. */
async function cutAt<Found extends GrowingRow>(reader: Reader, org: string, row: Found, head: number): Promise<Found> {
  const said = messageIn(row.payload);
  if (said === undefined || row.payload === null) return row;
  const { id, sender, body } = said;
  const [next] = await reader.allOf<{ mid: string }>(
    org,
    findNext(reader.dialect),
    ...piecesOf({ id, org, sender }, 0),
    head,
  );
  if (next === undefined) return row;
  const shown = [...body].slice(0, offsetIn(next.mid)).join("");
  const payload = grownPayload(row.payload, { body: shown, isOpen: true }) ?? row.payload;
  return { ...row, payload, silent: silentMarks.open };
}

function messageIn(payload: string | null): { id: string; sender: string; body: string } | undefined {
  const message = payload === null ? undefined : objectWith(payload, "message")?.message;
  if (!isObject(message)) return undefined;
  const { _id: id, from: sender, body } = message;
  if (typeof id !== "string" || typeof sender !== "string" || typeof body !== "string") return undefined;
  return { id, sender, body };
}
