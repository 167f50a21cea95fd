const pageBytes = 4 * 1024 * 1024;

type Options = { order?: "ASC" | "DESC"; columns?: string; maxBytes?: number | "?" };

/**
 * Ends a page of rows in log order, or against it, where it grows beyond `maxBytes`, 4 MiB by default: the largest events are a
 * thousand times the usual ones. `page` is a SELECT with the columns `"offset"` and `bytes`; its first row is always there.
 */
export function withinBytes(page: string, options: Options = {}): string {
  const { order = "ASC", columns = "*", maxBytes = pageBytes } = options;
  return `SELECT ${columns} FROM (SELECT page.*, SUM(bytes) OVER (ORDER BY "offset" ${order}) - bytes AS bytes_before FROM (${page}) AS page) AS page
    WHERE bytes_before < ${maxBytes} ORDER BY "offset" ${order}`;
}
