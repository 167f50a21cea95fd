import { maxUnread } from "../../contract/messages/reads.ts";
import { lasts } from "../messages/expiry-rule.ts";
import { type Hider, hasHidden, isNoneOfHidden } from "../messages/hidden-rule.ts";
import { newestEvents } from "../messages/newest.ts";

/** SQL expressions: of a conversation's events between two offsets, for a user, by the database's clock `now`. */
type Places = { org: string; cid: string; after: string; upTo?: string; uid: string; now: string };

/**
 * The SQL that finds messages of others after an offset, among the newest events there; silent ones do not count, nor those taken
 * back or expired. Reads only an index, unless `wanted` has columns that are not in it. Placeholders appear in the order of `Places`.
 */
function unreadAmongNewest(wanted: readonly string[], { org, cid, after, upTo, uid, now }: Places): string {
  const columns = [...wanted, "sender", "recalled_at", "silent", "expires_at"];
  const where = `org = ${org} AND cid = ${cid} AND "offset" > ${after}${upTo === undefined ? "" : ` AND "offset" <= ${upTo}`}`;
  return `SELECT ${wanted.join(", ") || "1"} FROM (
${newestEvents({ columns, where })}) AS newest
    WHERE kind = 'message' AND recalled_at IS NULL AND silent IS NULL AND ${lasts({ now }, "newest")} AND sender <> ${uid}`;
}

/** The SQL that reads what is unread, newest first: `offset`, `id`, `sender`. */
export function readUnread(places: Required<Places>, limit: number): string {
  return `${unreadAmongNewest(['"offset"', "id", "sender"], places)} ORDER BY "offset" DESC LIMIT ${limit}`;
}

/** The SQL expression for the offset up to which the participant `p` has read. A mark from before joining does not count. */
export const readTo = "CASE WHEN p.read_to > p.log_start THEN p.read_to ELSE p.log_start END";

/**
 * The SQL expression that counts what is unread in a conversation and not hidden, for the user and place in the named columns, with the
 * placeholders of `hiderValues` unless `hider` is given. Nothing is added to the count for users who have hidden nothing.
 */
export function countUnread(places: Places, hider?: Hider): string {
  const { org, cid } = places;
  const among = unreadAmongNewest([], places);
  const isShown = isNoneOfHidden({ org, cid, offset: 'newest."offset"' }, hider);
  return `(CASE WHEN ${hasHidden(hider)} THEN ${countOf(`${among} AND ${isShown}`)} ELSE ${countOf(among)} END)`;
}

const countOf = (found: string) => `(SELECT COUNT(*) FROM (${found} LIMIT ${maxUnread}) AS unread)`;
