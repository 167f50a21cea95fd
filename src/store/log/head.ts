import { type LogPlace, logStart } from "../../contract/log/log-place.ts";

/**
 * The columns `head` and `head_id` of `organization o`. If the last writer was a version that does not record ids, the
 * id is looked up; it is `NULL` if that event was removed.
 */
export const headColumns = `o.head, CASE WHEN o.head_id_offset = o.head THEN o.head_id
    ELSE (SELECT e.id FROM event e WHERE e.org = o.id AND e."offset" = o.head) END AS head_id`;

/** Converts a row with these columns to the head. */
export function toHead({ head, head_id: id }: { head: number; head_id: string | null }): LogPlace {
  const offset = Number(head);
  return offset === 0 ? logStart : { offset, id: id ?? undefined };
}
