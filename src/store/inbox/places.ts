import { addressOf, type LogEvent } from "../../contract/log/log-event.ts";
import { beginning } from "../log/past.ts";

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

/** The place of what is addressed to a conversation, or without one to everyone. */
export const placeOf = (cid: string | undefined) => (cid === undefined ? ofEveryone : ofConversation(cid));

/** The user whose own row has a place; `undefined` for another place. */
export function userOf(place: string): string | undefined {
  return place.startsWith("u") ? place.slice(1) : undefined;
}

/** The conversation of its place. */
export const cidOf = (place: string) => place.slice(1);

/** Sorts behind the places of all conversations. */
export const behindConversations = "d";

/** Stands for a conversation in a row of `former_participant` that is about what was addressed to everyone. */
export const cidOfEveryone = "";

/** The end of the log, and of what is imported. */
export const ends = { log: Number.MAX_SAFE_INTEGER, past: -1 };

/** The SQL of the offset after which what was imported for a user or a participant begins. */
export const pastOf = (row: string) => `COALESCE(${row}.past_start, ${beginning})`;

/** The SQL condition that a row of `inbox` is in the inbox of whom it names, or is that of a conversation or of everyone. */
export const isOfSomebody = (row: string) => `(substr(${row}.place, 1, 1) <> 'u' OR EXISTS (SELECT 1 FROM "user" u
  WHERE u.org = ${row}.org AND u.id = substr(${row}.place, 2) AND u.deleted_at IS NULL
    AND (${row}."offset" < 0 OR ${row}."offset" > u.log_start)))`;

const placesOfUser = (
  place: string,
  past: string | number,
) => `SELECT ${place} AS place, u.log_start AS after, ${ends.log} AS up_to
    FROM "user" u WHERE u.org = ? AND u.id = ? AND u.deleted_at IS NULL
  UNION ALL SELECT ${place}, ${past}, ${ends.past} FROM "user" u WHERE u.org = ? AND u.id = ? AND u.deleted_at IS NULL`;

// Most organizations import nothing to conversations, or nothing any more.
const hasPast = `${pastOf("p")} < (SELECT o.past_head FROM organization o WHERE o.id = ?)`;

/** The SQL condition that a row of `former_participant` is of a user as it was last created. */
export const wasThere = "u.deleted_at IS NULL AND (f.log_end < 0 OR f.log_end > u.log_start)";

// What a conversation that was deleted has left is before it.
const startOf = `CASE WHEN f.log_end < 0 THEN COALESCE(c.past_start, 0) ELSE c.log_start END`;

/**
 * The SQL of a user's places, with the columns `place`, `after` and `up_to`: what lies between these offsets there was addressed to
 * the user. A new user sees nothing that was sent or imported before; imported rows name only users who exist. Who left a
 * conversation keeps what was addressed to them, for as long as the conversation and the user exist. Placeholders: those of
 * `placesValues`.
 */
export const userPlaces = `${placesOfUser("'u' || u.id", beginning)}
  UNION ALL ${placesOfUser(`'${ofEveryone}'`, pastOf("u"))}
  UNION ALL SELECT '${ofEveryone}', f.log_start, f.log_end FROM former_participant f WHERE f.org = ? AND f.uid = ? AND f.cid = '${cidOfEveryone}'
  UNION ALL SELECT 'c' || p.cid, p.log_start, ${ends.log} FROM participant p WHERE p.org = ? AND p.uid = ?
  UNION ALL SELECT 'c' || p.cid, ${pastOf("p")}, ${ends.past} FROM participant p WHERE p.org = ? AND p.uid = ? AND ${hasPast}
  UNION ALL SELECT 'c' || f.cid, CASE WHEN f.log_start > ${startOf} THEN f.log_start ELSE ${startOf} END, f.log_end
    FROM former_participant f JOIN conversation c ON c.org = f.org AND c.id = f.cid
    JOIN "user" u ON u.org = f.org AND u.id = f.uid AND ${wasThere}
    WHERE f.org = ? AND f.uid = ?`;

/** The values of `userPlaces`. */
export function placesValues(org: string, uid: string): string[] {
  const user = [org, uid];
  return [...user, ...user, ...user, ...user, ...user, ...user, ...user, org, ...user];
}
