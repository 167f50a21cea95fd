const magic = new TextEncoder().encode("SQLite format 3\0");
// https://sqlite.org/fileformat2.html: 1 is a rollback journal, 2 a write-ahead log.
const journalAt = 18;
const rollback = 1;

/** How many bytes of a database file `isUnopenedCopy` needs. */
export const headerBytes = journalAt + 1;

/**
 * Whether this is the beginning of a backup that no server has opened: it says that it has no write-ahead log, until a
 * server gives it one. The file of a database that is in use never says so.
 */
export function isUnopenedCopy(header: Uint8Array): boolean {
  return header[journalAt] === rollback && magic.every((byte, index) => header[index] === byte);
}
