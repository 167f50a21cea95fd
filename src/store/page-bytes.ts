const pageBytes = 4 * 1024 * 1024;

/**
 * Ends a page of rows in log order, or against it, where it grows beyond 4 MiB: the largest events are a thousand times the usual ones.
 * `page` is a SELECT with the columns `"offset"` and `bytes`; its first row is always there.
 */
export function withinBytes(page: string, order: "ASC" | "DESC" = "ASC"): string {
  return `SELECT * FROM (SELECT page.*, SUM(bytes) OVER (ORDER BY "offset" ${order}) - bytes AS bytes_before FROM (${page}) AS page) AS page
    WHERE bytes_before < ${pageBytes} ORDER BY "offset" ${order}`;
}
