import { maxUnread } from "../../contract/messages/reads.ts";

// Bounds what a count costs, however many messages the user sent without reading.
const eventsSeen = 250;

type Places = {
  columns: string;
  org: string;
  cid: string;
  after: string;
  upTo: string;
  uid: string;
  limit: number;
};

/**
 * The SQL that finds, newest first, messages of others between two offsets, among the newest events there; those taken
 * back have no payload. Its parts are columns and placeholders, which appear in the order of `Places`.
 */
export function unreadAmongNewest({ columns, org, cid, after, upTo, uid, limit }: Places): string {
  return `SELECT ${columns} FROM (
      SELECT "offset", id, kind, sender, OCTET_LENGTH(payload) AS bytes FROM event WHERE org = ${org} AND cid = ${cid} AND "offset" > ${after} AND "offset" <= ${upTo}
      ORDER BY "offset" DESC LIMIT ${eventsSeen}) AS newest
    WHERE kind = 'message' AND bytes > 0 AND sender <> ${uid} ORDER BY "offset" DESC LIMIT ${limit}`;
}

/** The SQL expression for the offset up to which the participant `p` has read. A mark from before joining does not count. */
export const readTo = "CASE WHEN p.read_to > p.log_start THEN p.read_to ELSE p.log_start END";

/** The SQL expression that counts what is unread in a conversation, for the user and place in the named columns. */
export function countUnread({ org, cid, uid, after }: Pick<Places, "org" | "cid" | "uid" | "after">): string {
  const upTo = String(Number.MAX_SAFE_INTEGER);
  return `(SELECT COUNT(*) FROM (${unreadAmongNewest({ columns: "id", org, cid, after, upTo, uid, limit: maxUnread })}) AS unread)`;
}
