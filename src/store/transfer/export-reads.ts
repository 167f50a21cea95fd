import { textsIn } from "../../lib/json/json-values.ts";
import { rowsOfStatement } from "../../lib/queues/steps.ts";
import { joinIds } from "../../lib/text/ids.ts";
import { isOfSomebody, placesOf, userOf } from "../inbox/places.ts";
import { withinBytes } from "../log/page-bytes.ts";
import { importedKind, isMessageOf, isOfConversation, isSystemMessage } from "../log/past.ts";
import { lasts } from "../messages/expiry-rule.ts";
import { withPieces } from "../messages/pieces.ts";
import type { Dialect } from "../sql/dialect.ts";
import type { Reader, Row } from "../sql/driver.ts";
import { bytesOfPage, isKeptOrKeyed } from "./export-inbox-reads.ts";
import type {
  ExportedEntity,
  ExportedMessage,
  ExportedParticipant,
  ExportedSystemMessage,
  ExportOf,
  ExportReads,
} from "./ports.ts";

type EntityRow = Row & { id: string; name: string | null; blocked_at: number | null };
type EventRow = Row & {
  offset: number;
  id: string;
  mid: string | null;
  kind: string;
  payload: string | null;
  sender: string;
  cid: string | null;
  uids: string | null;
  created_at: number;
  reactions: string | null;
  silent: number | null;
};
type KeptRow = Row & {
  offset: number;
  place: string;
  mid: string | null;
  sender_key: string | null;
  kept_until: number;
};

const readUsers = `SELECT id, name, blocked_at FROM "user"
  WHERE org = ? AND id > ? AND deleted_at IS NULL AND log_start <= ? ORDER BY id LIMIT ?`;
const readConversations = `SELECT id, name, NULL AS blocked_at FROM conversation
  WHERE org = ? AND id > ? AND log_start <= ? ORDER BY id LIMIT ?`;
const readConversationsOf = `SELECT c.id, c.name, NULL AS blocked_at FROM participant p
  JOIN conversation c ON c.org = p.org AND c.id = p.cid
  WHERE p.org = ? AND p.uid = ? AND p.cid > ? AND p.log_start <= ? ORDER BY p.cid LIMIT ?`;
const readParticipantsBetween = `SELECT cid, uid FROM participant
  WHERE org = ? AND cid > ? AND cid <= ? AND log_start <= ? ORDER BY cid, uid LIMIT ?`;
const readParticipantsAfter = `SELECT cid, uid FROM participant
  WHERE org = ? AND cid = ? AND uid > ? AND log_start <= ? ORDER BY uid LIMIT ?`;

// Events of all kinds, so that a page costs a page, however few messages there are.
const page = (isWanted: string) =>
  withinBytes(
    `SELECT "offset", CASE WHEN ${isWanted} THEN OCTET_LENGTH(payload) + COALESCE(OCTET_LENGTH(uids), 0) ELSE 0 END AS bytes
     FROM event WHERE org = ? AND "offset" > ? AND "offset" <= ? ORDER BY "offset" LIMIT ${rowsOfStatement}`,
    { maxBytes: bytesOfPage },
  );
// What has expired has no text, whether or not it is removed already.
const readEvents = (dialect: Dialect, isWanted: string, isRead: string) =>
  `SELECT e."offset", e.id, e.mid, e.kind, e.sender, e.cid, e.created_at, e.reactions, e.silent, CASE WHEN ${isSystemMessage("e")} THEN e.uids END AS uids,
     CASE WHEN c.id IS NOT NULL OR (e.cid IS NULL AND ${isSystemMessage("e")})
       THEN CASE WHEN ${lasts(dialect, "e")} THEN e.payload ELSE '' END END AS payload
   FROM event e LEFT JOIN conversation c ON c.org = e.org AND c.id = e.cid AND ${isWanted} AND ${isOfConversation}
   WHERE e.org = ? AND e."offset" > ? AND e."offset" <= (SELECT MAX("offset") FROM (${page(isRead)}) AS fitting)
   ORDER BY e."offset"`;
const isEither = (event: string) => `(${isMessageOf(event)} OR ${isSystemMessage(event)})`;

/** Creates the reads of exports. */
export function createExportReads({ reader }: { reader: Reader }): ExportReads {
  const { dialect } = reader;
  const readAll = readEvents(dialect, isEither("e"), isEither("event"));
  const readWritten = readEvents(dialect, `${isMessageOf("e")} AND e.sender = ?`, isMessageOf("event"));
  const findKept = `SELECT i."offset", i.place, i.mid, i.sender_key, i.kept_until FROM (${dialect.givenTuples("text", "number")}) AS asked
    ${dialect.joinEach("inbox", "i", `i.org = ? AND i.place = asked.v0 AND i."offset" = asked.v1`)}
    WHERE ${isKeptOrKeyed("i")} AND ${isOfSomebody("i")}`;

  /** The rows in inboxes of system messages, by their offsets. */
  async function keptOf({ org, now }: ExportOf, events: readonly EventRow[]): Promise<Map<number, KeptRow[]>> {
    const asked = events.flatMap(({ offset, payload, kind, cid, uids }) => {
      if (payload === null || uids === null || isMessageKind(kind)) return [];
      return placesOf({ cid: cid ?? undefined, uids: textsIn(uids) }).map((place) => [place, offset]);
    });
    if (asked.length === 0) return new Map();
    const rows = await reader.allOf<KeptRow>(org, findKept, JSON.stringify(asked), org, now);
    return Map.groupBy(rows, ({ offset }) => Number(offset));
  }

  return {
    users: async ({ org, head }, after, limit) =>
      (await reader.allOf<EntityRow>(org, readUsers, org, after, head, limit)).map(toEntity),
    async conversations({ org, head }, after, limit, uid) {
      const rows =
        uid === undefined
          ? await reader.allOf<EntityRow>(org, readConversations, org, after, head, limit)
          : await reader.allOf<EntityRow>(org, readConversationsOf, org, uid, after, head, limit);
      return rows.map(toEntity);
    },
    participantsBetween: ({ org, head }, after, upTo, limit) =>
      reader.allOf<ExportedParticipant>(org, readParticipantsBetween, org, after, upTo, head, limit),
    participantsAfter: ({ org, head }, { cid, uid }, limit) =>
      reader.allOf<ExportedParticipant>(org, readParticipantsAfter, org, cid, uid, head, limit),
    async events(of, after, sender) {
      const { org, head, now } = of;
      const range = [org, after, org, after, head];
      const read =
        sender === undefined
          ? await reader.allOf<EventRow>(org, readAll, ...range)
          : await reader.allOf<EventRow>(org, readWritten, sender, ...range);
      const rows = await withPieces(reader, org, read);
      const last = rows.at(-1);
      if (last === undefined) return undefined;
      const kept = sender === undefined ? await keptOf(of, rows) : new Map<number, KeptRow[]>();
      const events = rows.flatMap((row): (ExportedMessage | ExportedSystemMessage)[] =>
        isMessageKind(row.kind) ? toMessage(row) : toSystemMessage(row, kept.get(Number(row.offset)) ?? [], now),
      );
      return { events, last: Number(last.offset) };
    },
  };
}

const isMessageKind = (kind: string) => kind === "message" || kind === importedKind;

/** Payloads of what was taken back are empty. */
function toMessage({ id, mid, kind, payload, reactions, ...row }: EventRow): ExportedMessage[] {
  const importId = kind === importedKind ? (mid ?? id) : id;
  if (payload === null || payload === "") return [];
  return [
    {
      kind: "message",
      importId,
      payload,
      cid: row.cid ?? "",
      offset: Number(row.offset),
      isReactedTo: reactions !== null,
    },
  ];
}

function toSystemMessage(
  { id, sender, cid, created_at, payload }: EventRow,
  rows: readonly KeptRow[],
  now: number,
): ExportedSystemMessage[] {
  const [first] = rows;
  if (first === undefined || payload === null) return [];
  const { place, mid, sender_key, kept_until } = first;
  const until = Number(kept_until);
  return [
    {
      kind: "system_message",
      id: mid ?? id,
      sender,
      createdAt: Number(created_at),
      cid: cid ?? undefined,
      uids: userOf(place) === undefined ? undefined : rows.flatMap((row) => userOf(row.place) ?? []),
      key: sender_key === null ? undefined : sender_key.slice(joinIds(sender, "").length),
      kept: mid === null || payload === "" || until <= now ? undefined : { payload, until },
    },
  ];
}

function toEntity({ id, name, blocked_at }: EntityRow): ExportedEntity {
  return { id, name, isBlocked: blocked_at !== null };
}
