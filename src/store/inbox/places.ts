import { addressOf, type LogEvent } from "../../contract/log/log-event.ts";

// One letter says what follows, so no user is taken for a conversation.
const ofEveryone = "e";
const ofUser = (uid: string) => `u${uid}`;
const ofConversation = (cid: string) => `c${cid}`;

/** The places of a system message's rows: of each user that it lists, or of its conversation, or of everyone. */
export function placesOf(event: Pick<LogEvent, "cid" | "uids">): string[] {
  switch (addressOf(event)) {
    case "users":
      return (event.uids ?? []).map(ofUser);
    case "conversation":
      return [ofConversation(event.cid ?? "")];
    case "everyone":
      return [ofEveryone];
  }
}

/** The place of a user's own rows. */
export const placeOfUser = ofUser;

/**
 * The SQL of a user's places, with the columns `place`, `after` and `up_to`: what lies between these offsets there was addressed to
 * the user. A new user sees nothing from before, also one who had the id of an earlier user, and who left a conversation keeps what was
 * addressed to them, for as long as the conversation exists. Placeholders: those of `placesValues`.
 */
export const userPlaces = `SELECT 'u' || u.id AS place, u.log_start AS after, ${Number.MAX_SAFE_INTEGER} AS up_to
    FROM "user" u WHERE u.org = ? AND u.id = ? AND u.deleted_at IS NULL
  UNION ALL SELECT '${ofEveryone}', u.log_start, ${Number.MAX_SAFE_INTEGER}
    FROM "user" u WHERE u.org = ? AND u.id = ? AND u.deleted_at IS NULL
  UNION ALL SELECT 'c' || p.cid, p.log_start, ${Number.MAX_SAFE_INTEGER} FROM participant p WHERE p.org = ? AND p.uid = ?
  UNION ALL SELECT 'c' || f.cid, CASE WHEN f.log_start > c.log_start THEN f.log_start ELSE c.log_start END, f.log_end
    FROM former_participant f JOIN conversation c ON c.org = f.org AND c.id = f.cid
    JOIN "user" u ON u.org = f.org AND u.id = f.uid AND u.deleted_at IS NULL AND u.log_start <= f.log_start
    WHERE f.org = ? AND f.uid = ?`;

/** The values of `userPlaces`. */
export function placesValues(org: string, uid: string): string[] {
  return [org, uid, org, uid, org, uid, org, uid];
}
