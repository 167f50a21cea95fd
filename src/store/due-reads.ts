import { databaseTime } from "./messages/expiry-rule.ts";
import type { Reader } from "./sql/driver.ts";

type Due = {
  reader: Reader;
  /** The SQL of the first of all times, in the column `at`. */
  findNext: string;
  /** The SQL of organizations with a time up to one, of the first so many of all. Placeholders: the time and the limit. */
  findOrganizations: string;
  /** How long after that time something is due, in milliseconds. */
  afterMs?: number;
};

/** Creates the reads of when something is due by the database's clock, and for whom. */
export function createDueReads({ reader, findNext, findOrganizations, afterMs = 0 }: Due) {
  return {
    async next(): Promise<{ now: number; nextAt: number | undefined }> {
      const [now, [first]] = await Promise.all([databaseTime(reader), reader.allOfEvery<{ at: number }>(findNext)]);
      return { now, nextAt: first && Number(first.at) + afterMs };
    },
    async dueOrganizations(now: number, limit: number): Promise<string[]> {
      const found = await reader.allOfEvery<{ org: string }>(findOrganizations, now - afterMs, limit);
      return found.map(({ org }) => org);
    },
  };
}
