import { addressOf } from "../../contract/log/log-event.ts";
import { isLiveOrganization } from "../directory/entity.ts";
import { isOfConversation } from "../log/past.ts";
import type { Reader, Row } from "../sql/driver.ts";
import { createFateReader } from "./fates.ts";
import type { ReportedEvent, UnreachedReads } from "./ports.ts";

type DueRow = Row & { org: string; offset: number; webhook: string; event_id: string; due_at: number };
type EventRow = Row & {
  org: string;
  id: string;
  offset: number;
  kind: "message" | "system";
  cid: string | null;
  uids: string | null;
  payload: string;
  participants: number | null;
};
type ParticipantRow = Row & { org: string; cid: string; uid: string; log_start: number };
type UserRow = Row & { org: string; id: string; log_start: number };
type RecipientRow = Row & { uid: string; log_start: number };

const findDue = `SELECT org, "offset", webhook, event_id, due_at FROM webhook_due WHERE due_at <= ?
  ORDER BY due_at, org, "offset", webhook LIMIT ?`;
const pageOfParticipants = `SELECT uid, log_start FROM participant WHERE org = ? AND cid = ? AND uid > ? ORDER BY uid LIMIT ?`;
const pageOfUsers = `SELECT id AS uid, log_start FROM "user" WHERE org = ? AND id > ? AND deleted_at IS NULL
  ORDER BY id LIMIT ?`;

/** Creates the reads of what webhooks tell, each of which is one query for any number of events. */
export function createUnreachedReads({ reader }: { reader: Reader }): UnreachedReads {
  const { tuplesOf } = reader.dialect;
  const findEvents = `SELECT e.org, e.id, e."offset", e.kind, e.cid, e.uids, e.payload, c.participants
    FROM (${tuplesOf("?", 2)}) AS asked JOIN event e ON e.id = asked.v1 AND e.org = asked.v0
    LEFT JOIN conversation c ON c.org = e.org AND c.id = e.cid
    WHERE e.kind IN ('message', 'system') AND (e.cid IS NULL OR ${isOfConversation}) AND ${isLiveOrganization("e.org")}`;
  const findParticipants = `SELECT p.org, p.cid, p.uid, p.log_start
    FROM (${tuplesOf("?", 2)}) AS asked JOIN participant p ON p.org = asked.v0 AND p.cid = asked.v1`;
  const findUsers = `SELECT u.org, u.id, u.log_start
    FROM (${tuplesOf("?", 2)}) AS asked JOIN "user" u ON u.org = asked.v0 AND u.id = asked.v1 WHERE u.deleted_at IS NULL`;

  /** Rows of the organizations that the tuples begin with. */
  async function find<Shape extends Row>(text: string, tuples: readonly [org: string, id: string][]): Promise<Shape[]> {
    if (tuples.length === 0) return [];
    return await reader.allOf<Shape>([...new Set(tuples.map(([org]) => org))], text, JSON.stringify(tuples));
  }

  return {
    async due(now, limit) {
      const rows = await reader.all<DueRow>(findDue, now, limit);
      return rows.map(({ org, offset, webhook, event_id: eventId, due_at }) => ({
        org,
        offset: Number(offset),
        webhook,
        eventId,
        dueAt: Number(due_at),
      }));
    },
    async events(named) {
      const rows = await find<EventRow>(
        findEvents,
        named.map(({ org, id }) => [org, id]),
      );
      return rows.map(toEvent);
    },
    fates: createFateReader(reader),
    async participants(conversations) {
      const rows = await find<ParticipantRow>(
        findParticipants,
        conversations.map(({ org, cid }) => [org, cid]),
      );
      return rows.map(({ org, cid, uid, log_start }) => ({ org, cid, uid, after: Number(log_start) }));
    },
    async users(named) {
      const rows = await find<UserRow>(
        findUsers,
        named.map(({ org, uid }) => [org, uid]),
      );
      return rows.map(({ org, id, log_start }) => ({ org, uid: id, after: Number(log_start) }));
    },
    async recipientsOf(event, { after, limit }) {
      const { org, cid = "", offset } = event;
      const rows =
        addressOf(event) === "everyone"
          ? await reader.allOf<RecipientRow>(org, pageOfUsers, org, after, limit)
          : await reader.allOf<RecipientRow>(org, pageOfParticipants, org, cid, after, limit);
      return rows.map(({ uid, log_start }) => ({ uid, isRecipient: Number(log_start) < offset }));
    },
  };
}

function toEvent({ org, id, offset, kind, cid, uids, payload, participants }: EventRow): ReportedEvent {
  return {
    org,
    id,
    offset: Number(offset),
    kind,
    cid: cid ?? undefined,
    uids: uids === null ? undefined : JSON.parse(uids),
    payload,
    participants: Number(participants ?? 0),
  };
}
