const eventsSeen = 250;
const eventsScanned = 10 * eventsSeen;

// Asks for messages first, which most events are: each comparison shows in counts of what is unread.

/**
 * The SQL of the newest 250 events of a conversation that are no reactions or hidings, which must not displace messages, among its
 * newest 2,500. Both bounds limit what it costs. Reads only an index, unless `columns` has some that are not in it.
 */
export function newestEvents({ columns, where }: { columns: readonly string[]; where: string }): string {
  const read = [...new Set(['"offset"', "kind", ...columns])].join(", ");
  return `SELECT ${read} FROM (SELECT ${read} FROM event WHERE ${where} ORDER BY event."offset" DESC LIMIT ${eventsScanned}) AS scanned
    WHERE kind = 'message' OR (kind <> 'reaction' AND kind <> 'hide') LIMIT ${eventsSeen}`;
}
