const eventsSeen = 250;
const eventsScanned = 10 * eventsSeen;

/**
 * The SQL of the newest 250 events of a conversation that are no reactions, among its newest 2,500: popular messages must not hide others.
 * Both bounds limit what it costs. Reads only an index, unless `columns` has some that are not in it.
 */
export function newestEvents({ columns, where }: { columns: readonly string[]; where: string }): string {
  const read = [...new Set(['"offset"', "kind", ...columns])].join(", ");
  return `SELECT ${read} FROM (SELECT ${read} FROM event WHERE ${where} ORDER BY event."offset" DESC LIMIT ${eventsScanned}) AS scanned
    WHERE kind <> 'reaction' LIMIT ${eventsSeen}`;
}
