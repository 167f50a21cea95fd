import { requireKey } from "../keys/keys.ts";
import { recordMembership } from "../log/control-events.ts";
import { headColumns, toHead } from "../log/head.ts";
import type { LogWriter } from "../log/log-writer.ts";
import { hiderValues } from "../messages/hidden-rule.ts";
import {
  type AcquaintanceReads,
  type ConversationChange,
  type ParticipantReads,
  type ParticipantWrites,
  type Standing,
  userConversations,
} from "../ports.ts";
import type { PlaceReads } from "../reads/ports.ts";
import { countUnread, readTo } from "../reads/unread.ts";
import type { Reader } from "../sql/driver.ts";
import { type EntityRow, entities, isLiveOrganization } from "./entity.ts";
import { keepFormer } from "./former-participants.ts";
import { type Start, startIn } from "./starts.ts";
import { ensureUsers } from "./users.ts";

const findConversation = "SELECT participants FROM conversation WHERE org = ? AND id = ?";
const findParticipant = "SELECT uid FROM participant WHERE org = ? AND cid = ? AND uid = ?";
const deleteParticipant =
  "DELETE FROM participant WHERE org = ? AND cid = ? AND uid = ? RETURNING log_start, past_start";
const findUser = `SELECT id, name, created_at FROM "user" WHERE org = ? AND id = ?`;

const pageOfParticipants = `SELECT u.id, u.name, u.created_at FROM participant p
  JOIN "user" u ON u.org = p.org AND u.id = p.uid
  WHERE p.org = ? AND p.cid = ? AND p.uid > ? AND ${isLiveOrganization("p.org")} ORDER BY p.uid LIMIT ?`;

// A single statement, as it sees one snapshot and is all that a connect reads. The revocation of the token depends on
// no row, so it is looked up once.
const readSnapshot = `SELECT ${headColumns}, o.tokens_valid_after AS org_valid_after, u.tokens_valid_after AS user_valid_after,
    u.blocked_at, CASE WHEN EXISTS (SELECT 1 FROM revoked_token WHERE org = ? AND uid = ? AND jti = ?) THEN 1 ELSE 0 END AS is_revoked,
    CASE WHEN EXISTS (SELECT 1 FROM inbox WHERE inbox.org = o.id) THEN 1 ELSE 0 END AS has_inboxes,
    CASE WHEN u.deleted_at IS NULL THEN u.id END AS uid, p.cid
  FROM organization o
  LEFT JOIN "user" u ON u.org = o.id AND u.id = ?
  LEFT JOIN participant p ON p.org = o.id AND p.uid = ?
  WHERE o.id = ? AND o.deleted_at IS NULL`;

const pageOfConversations = `SELECT c.org, c.id, c.name, c.created_at, c.updated_at, p.uid, ${readTo} AS read_to
  FROM participant p JOIN conversation c ON c.org = p.org AND c.id = p.cid
  WHERE p.org = ? AND p.uid = ? AND (c.updated_at < ? OR (c.updated_at = ? AND c.id > ?))
    AND c.updated_at > ? AND c.updated_at < ?
  ORDER BY c.updated_at DESC, c.id LIMIT ?`;

const findPlace = `SELECT o.head, c.id AS cid, p.uid FROM organization o
  LEFT JOIN conversation c ON c.org = o.id AND c.id = ?
  LEFT JOIN participant p ON p.org = o.id AND p.cid = c.id AND p.uid = ?
  WHERE o.id = ? AND o.deleted_at IS NULL`;

type PlaceRow = { head: number; cid: string | null; uid: string | null };

type SnapshotRow = {
  head: number;
  head_id: string | null;
  org_valid_after: number;
  user_valid_after: number | null;
  blocked_at: number | null;
  is_revoked: number;
  has_inboxes: number;
  uid: string | null;
  cid: string | null;
};

type SeenRow = EntityRow & { seen_at: number | null };

/** Creates the writes of participants. */
export function createParticipantWrites({ writer }: { writer: LogWriter }): ParticipantWrites {
  return {
    add: (org, cid, uid, maxParticipants, now, by) =>
      writer.change(org, missing("organization"), async (transaction) => {
        const { sql } = transaction;
        const [conversation] = await sql.all<{ participants: number }>(findConversation, org, cid);
        if (conversation === undefined) return missing("conversation");
        const isNew = (await sql.all(findParticipant, org, cid, uid)).length === 0;
        if (isNew) {
          if (Number(conversation.participants) >= maxParticipants) return { outcome: "too_many" };
          await ensureUsers(transaction, { org, uids: [uid], now });
          await sql.rows.insert("participant", [{ org, cid, uid, created_at: now, ...startIn(transaction, org) }]);
          await recordMembership(transaction, { org, cid, now }, { added: [uid], removed: [] });
        }
        const entity = await entities.readFirst(sql.all(findUser, org, uid));
        if (entity === undefined) throw new Error("a participant who is no user");
        await requireKey(sql, by);
        return { outcome: "done", put: { entity, isNew } };
      }),
    remove: (org, cid, uid, now) =>
      writer.change(org, missing("organization"), async (transaction) => {
        const { sql } = transaction;
        if ((await sql.all(findConversation, org, cid)).length === 0) return missing("conversation");
        const entity = await entities.readFirst(sql.all(findUser, org, uid));
        const [left] = await sql.all<Start>(deleteParticipant, org, cid, uid);
        if (entity === undefined || left === undefined) return missing("participant");
        keepFormer(transaction, { org, now }, [{ cid, uid, ...left }]);
        await recordMembership(transaction, { org, cid, now }, { added: [], removed: [uid] });
        return { outcome: "done", put: { entity, isNew: false } };
      }),
  };
}

function missing(what: Extract<ConversationChange, { outcome: "missing" }>["missing"]): ConversationChange {
  return { outcome: "missing", missing: what };
}

/** Creates the reads of participants. */
export function createParticipantReads({ reader }: { reader: Reader }): ParticipantReads {
  return {
    list: (org, cid, { after = "", limit }) =>
      entities.readAll(reader.allOf(org, pageOfParticipants, org, cid, after, limit)),
    async has(org, cid, uid) {
      const find = `${findParticipant} AND ${isLiveOrganization("org")}`;
      return (await reader.allOf(org, find, org, cid, uid)).length > 0;
    },
  };
}

/** Creates the reads of users' places in the log. */
export function createStanding({ reader }: { reader: Reader }): Standing & PlaceReads {
  // Counts only what is unread in the conversations of the page.
  const ofPage = { org: "page.org", cid: "page.id", uid: "page.uid", after: "page.read_to" };
  const unread = countUnread({ ...ofPage, now: reader.dialect.now });
  const readConversations = `SELECT id, name, created_at, updated_at, ${unread} AS unread FROM (${pageOfConversations}) AS page
    ORDER BY updated_at DESC, id`;
  return {
    async snapshot(org, uid, jti) {
      const rows = await reader.allOf<SnapshotRow>(org, readSnapshot, org, uid, jti ?? null, uid, uid, org);
      const [first] = rows;
      if (first === undefined) return undefined;
      const { offset: head, id: headId } = toHead(first);
      return {
        head,
        headId,
        cids: rows.flatMap(({ cid }) => (cid === null ? [] : [cid])),
        tokensValidAfter: Math.max(Number(first.org_valid_after), Number(first.user_valid_after ?? 0)),
        isUser: first.uid !== null,
        hasInboxes: Number(first.has_inboxes) === 1,
        isRevoked: Number(first.is_revoked) === 1,
        isBlocked: first.blocked_at !== null,
      };
    },
    async place(org, cid, uid) {
      const [row] = await reader.allOf<PlaceRow>(org, findPlace, cid, uid, org);
      if (row === undefined) return undefined;
      return { head: Number(row.head), isConversation: row.cid !== null, isParticipant: row.uid !== null };
    },
    conversations(org, uid, { after, limit, between }) {
      const { updatedAt, id } = after ?? { updatedAt: Number.MAX_SAFE_INTEGER, id: "" };
      const { gt = -1, lt = Number.MAX_SAFE_INTEGER } = between ?? {};
      const place = [...hiderValues(org, uid), org, uid, updatedAt, updatedAt, id, gt, lt];
      return userConversations.readAll(reader.allOf(org, readConversations, ...place, limit));
    },
  };
}

/** Creates the reads of who knows whom. */
export function createAcquaintanceReads({ reader }: { reader: Reader }): AcquaintanceReads {
  const { givenTexts } = reader.dialect;
  const shares = `EXISTS (SELECT 1 FROM participant mine WHERE mine.org = u.org AND mine.uid = ?
    AND EXISTS (SELECT 1 FROM participant theirs WHERE theirs.org = mine.org AND theirs.cid = mine.cid AND theirs.uid = u.id))`;
  const findAmong = `SELECT u.id, u.name, u.created_at, u.seen_at FROM "user" u
    WHERE u.org = ? AND u.id IN (${givenTexts}) AND u.deleted_at IS NULL AND (u.id = ? OR ${shares})
      AND ${isLiveOrganization("u.org")} ORDER BY u.id`;
  const findOwn = `SELECT cid FROM participant WHERE org = ? AND uid = ? AND cid IN (${givenTexts})
    AND ${isLiveOrganization("org")} ORDER BY cid`;
  const find = (org: string, uid: string, ids: readonly string[]) =>
    reader.allOf<SeenRow>(org, findAmong, org, JSON.stringify(ids), uid, uid);
  return {
    among: (org, uid, ids) => entities.readAll(find(org, uid, ids)),
    async lastSeen(org, uid, ids) {
      const rows = await find(org, uid, ids);
      return new Map(rows.map(({ id, seen_at, created_at }) => [id, Number(seen_at ?? created_at)]));
    },
    async conversationsAmong(org, uid, cids) {
      const rows = await reader.allOf<{ cid: string }>(org, findOwn, org, uid, JSON.stringify(cids));
      return rows.map(({ cid }) => cid);
    },
  };
}
