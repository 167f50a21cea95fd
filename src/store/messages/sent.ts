import { addressOf } from "../../contract/log/log-event.ts";
import { rowsOfStatement } from "../../lib/queues/steps.ts";
import { joinIds } from "../../lib/text/ids.ts";
import { type SentEvent, type SentReads, sentEvents, sentMessages } from "../delivery/ports.ts";
import { isLiveOrganization } from "../directory/entity.ts";
import { midIn } from "../inbox/inbox-reads.ts";
import { placesOf } from "../inbox/places.ts";
import { isMessageOf, isOfConversation, isSystemMessage } from "../log/past.ts";
import type { Dialect } from "../sql/dialect.ts";
import type { Reader, Row, SqlValue } from "../sql/driver.ts";
import { withPieces } from "./pieces.ts";

type SentRow = Row & { payload: string; silent: number | null };

// How it ended, if it did: one that was taken back expires no more.
const ending = ({ now }: Dialect) => `CASE WHEN e.expires_at IS NULL THEN e.recalled_at END AS recalled_at,
  CASE WHEN e.expires_at <= ${now} THEN e.expires_at END AS expired_at`;

// Messages stored before recipients were counted get the current number of participants.
const findMessage = (
  dialect: Dialect,
) => `SELECT e."offset", e.cid, e.payload, e.uids, e.key_id, COALESCE(e.recipients, c.participants) AS recipients,
    e.id, e.sender, e.created_at, e.edited_at, e.reactions, e.silent, ${ending(dialect)}
  FROM event e JOIN conversation c ON c.org = e.org AND c.id = e.cid
  WHERE e.org = ? AND e.id = ? AND ${isMessageOf("e")} AND ${isOfConversation} AND ${isLiveOrganization("e.org")}`;

const findSystemOf = (
  dialect: Dialect,
) => `SELECT e.id, e."offset", e.cid, e.payload, e.uids, e.key_id, e.recipients, e.sender, e.created_at,
    ${ending(dialect)}
  FROM event e LEFT JOIN conversation c ON c.org = e.org AND c.id = e.cid
  WHERE e.org = ? AND e.mid = ? AND ${isSystemMessage("e")} AND (e.cid IS NULL OR ${isOfConversation})
    AND ${isLiveOrganization("e.org")}`;

const wasUserAt = "org = ? AND log_start < ? AND (deleted_at IS NULL OR log_end >= ?)";
const countUsers = `SELECT COUNT(*) AS count FROM "user" WHERE ${wasUserAt}`;

/** Creates the reads of sent messages: only those of existing conversations, since they were last created. */
export function createSentReads({ reader }: { reader: Reader }): SentReads {
  const { dialect } = reader;
  const findOne = findMessage(dialect);
  const findSystem = findSystemOf(dialect);
  const findSuccessor = `SELECT e.mid, e.payload FROM inbox i JOIN event e ON e.org = i.org AND e."offset" = i."offset"
    WHERE i.org = ? AND i.place IN (${dialect.givenTexts}) AND i.sender_key = ? AND i."offset" > ?
    ORDER BY i."offset" DESC LIMIT 1`;
  const wasUser = `SELECT id FROM "user" WHERE ${wasUserAt} AND id IN (${dialect.givenTexts})`;
  // Asks for strangers, as nearly all ids are users: few rows then cross from a thread or a server.
  const isStranger = `SELECT asked.value AS id FROM (${dialect.givenTexts}) AS asked
    WHERE NOT EXISTS (SELECT 1 FROM "user" u WHERE u.org = ? AND u.id = asked.value AND u.deleted_at IS NULL)`;

  /** Runs a query for hundreds of ids at a time, and returns all ids found. `valuesOf` places the list of ids. */
  async function findIds(
    org: string,
    text: string,
    uids: string[],
    valuesOf: (list: string) => SqlValue[],
  ): Promise<Set<string>> {
    const ids = new Set<string>();
    for (let start = 0; start < uids.length; start += rowsOfStatement) {
      const list = JSON.stringify(uids.slice(start, start + rowsOfStatement));
      for (const { id } of await reader.allOf<{ id: string }>(org, text, ...valuesOf(list))) ids.add(id);
    }
    return ids;
  }

  return {
    async message(org, id) {
      const find = async () => withPieces(reader, org, await reader.allOf<SentRow>(org, findOne, org, id));
      const message = await sentMessages.readFirst(find());
      return message && { ...message, recipients: recipientsOf(message) };
    },
    async systemMessages(org, mid, sender) {
      const events = await sentEvents.readAll(
        sender === undefined
          ? reader.allOf(org, `${findSystem} LIMIT 2`, org, mid)
          : reader.allOf(org, `${findSystem} AND e.sender = ? ORDER BY e."offset" DESC LIMIT 1`, org, mid, sender),
      );
      return events.map((event) => ({ ...event, recipients: recipientsOf(event) }));
    },
    async successorOf(org, event, key) {
      const { sender, offset } = event;
      const values = [org, JSON.stringify(placesOf(event)), joinIds(sender, key), offset];
      const [row] = await reader.allOf<{ mid: string | null; payload: string }>(org, findSuccessor, ...values);
      return row && (row.mid ?? midIn(row.payload));
    },
    usersAt: (org, uids, offset) => findIds(org, wasUser, uids, (list) => [org, offset, offset, list]),
    async countUsersAt(org, offset) {
      const [row] = await reader.allOf<{ count: number }>(org, countUsers, org, offset, offset);
      return Number(row?.count ?? 0);
    },
    async strangersAmong(org, uids) {
      const strangers = await findIds(org, isStranger, uids, (list) => [list, org]);
      return strangers.size === 0 ? [] : uids.filter((uid) => strangers.has(uid));
    },
  };
}

function recipientsOf(event: SentEvent): number | undefined {
  return event.recipients ?? (addressOf(event) === "everyone" ? undefined : (event.uids?.length ?? 0));
}
