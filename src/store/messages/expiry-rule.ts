import type { Looking } from "../log/log-writer.ts";
import type { Dialect } from "../sql/dialect.ts";

/** The SQL condition that an event has not expired by the database's clock, whether or not its text is removed already. */
export function lasts({ now }: Pick<Dialect, "now">, event: string): string {
  return `(${event}.expires_at IS NULL OR ${event}.expires_at > ${now})`;
}

/** The SQL condition that the text of an event may be shown. SQLite reads no payload to learn its length. */
export function hasText(dialect: Pick<Dialect, "now">, event: string): string {
  return `OCTET_LENGTH(${event}.payload) > 0 AND ${lasts(dialect, event)}`;
}

/** Reads the database's clock, in milliseconds since the Unix epoch. */
export async function databaseTime({ all, dialect }: Pick<Looking, "all" | "dialect">): Promise<number> {
  const [row] = await all<{ now: number }>(`SELECT ${dialect.now} AS now`);
  return Number(row?.now);
}

/** Those of the rows that have not expired. Asks for the time only if one of them expires at all. */
export async function lasting<Found extends { expires_at: number | null }>(
  sql: Pick<Looking, "all" | "dialect">,
  rows: readonly Found[],
): Promise<Found[]> {
  if (rows.every((row) => row.expires_at === null)) return [...rows];
  const now = await databaseTime(sql);
  return rows.filter((row) => row.expires_at === null || Number(row.expires_at) > now);
}
