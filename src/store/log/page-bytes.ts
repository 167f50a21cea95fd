const pageBytes = 4 * 1024 * 1024;

/** The SQL of the text of an event in such a page, which needs the columns `org` and `"offset"`: no more texts are read than fit it. */
export const payloadOfPage = `(SELECT payload FROM event WHERE event.org = page.org AND event."offset" = page."offset") AS payload`;

type Options = { order?: "ASC" | "DESC"; columns?: string; maxBytes?: number | "?" };

/**
 * Ends a page of rows, in log order or reversed, once it exceeds `maxBytes` (4 MiB by default): the largest events are
 * a thousand times the usual size. `page` is a SELECT with the columns `"offset"` and `bytes`; its first row is always
 * included.
 */
export function withinBytes(page: string, options: Options = {}): string {
  const { order = "ASC", columns = "*", maxBytes = pageBytes } = options;
  return `SELECT ${columns} FROM (SELECT page.*, SUM(bytes) OVER (ORDER BY "offset" ${order}) - bytes AS bytes_before FROM (${page}) AS page) AS page
    WHERE bytes_before < ${maxBytes} ORDER BY "offset" ${order}`;
}
