import { type LogPlace, logStart } from "../contract/log-event.ts";

/**
 * The columns `head` and `head_id` of an `organization o`. Where a Herald that does not write ids down wrote last, the id is
 * looked up; it is `NULL` where that event was removed.
 */
export const headColumns = `o.head, CASE WHEN o.head_id_offset = o.head THEN o.head_id
    ELSE (SELECT e.id FROM event e WHERE e.org = o.id AND e."offset" = o.head) END AS head_id`;

/** The head that a row with these columns tells. */
export function toHead({ head, head_id: id }: { head: number; head_id: string | null }): LogPlace {
  const offset = Number(head);
  return offset === 0 ? logStart : { offset, id: id ?? undefined };
}
