import { derivedIdOf, joinIds } from "../../lib/text/ids.ts";

/** What tells a kept system message from all others: a sender may use a `mid` again, once it is forgotten as that of a retry. */
export type KeptName = { org: string; sender: string; mid: string; createdAt: number };

/** The id of the event of a kept system message: derived, so that a line of an export is known to be the same one. */
export function keptIdOf({ org, sender, mid, createdAt }: KeptName): string {
  return derivedIdOf(createdAt, joinIds(org, sender, mid, createdAt));
}
