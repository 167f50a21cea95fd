import type { SqlValue } from "../sql/driver.ts";

/** SQL expressions: the place of a message. */
type Place = { org: string; cid: string; offset: string };

/** SQL expressions: the user. */
export type Hider = { org: string; uid: string };

const given: Hider = { org: "?", uid: "?" };

/** The SQL condition that a user has hidden anything. A statement looks for that once. */
export function hasHidden({ org, uid } = given): string {
  return `EXISTS (SELECT 1 FROM hidden_message WHERE org = ${org} AND uid = ${uid})`;
}

/** The SQL condition that a user has not hidden a message. No planner makes a join of it. */
export function isNoneOfHidden({ org, cid, offset }: Place, { uid } = given): string {
  return `(SELECT h.uid FROM hidden_message h
    WHERE h.org = ${org} AND h.uid = ${uid} AND h.cid = ${cid} AND h."offset" = ${offset}) IS NULL`;
}

/**
 * The same with the placeholders of `hiderValues`: for users who have hidden nothing, the whole statement looks into one index once; for
 * others, once for each message.
 */
export function isNotHidden(place: Place): string {
  return `(NOT ${hasHidden()} OR ${isNoneOfHidden(place)})`;
}

/** The values of `isNotHidden`, and of `hasHidden` before `isNoneOfHidden`. */
export function hiderValues(org: string, uid: string): SqlValue[] {
  return [org, uid, uid];
}
