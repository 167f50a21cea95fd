import type { Row } from "../harness/report/report.ts";
import type { Pace, Series } from "../harness/report/rounds.ts";

/** The findings of a part of the bench: every run, the rows of the table, and further tables. */
export type Findings = { series: Record<string, Series>; rows: Row[]; tables?: string[] };

/** Command line options, for the parts that use them. */
export type Wishes = {
  /** The folder of another checkout to measure beside this one. */
  against: string | undefined;
  /** The number of connections. */
  size: number | undefined;
  /** Use SQLite instead of PostgreSQL. */
  isEmbedded: boolean;
  /** The share of a core that PostgreSQL may use. */
  databaseShare: number | undefined;
};

/** A part of the bench; it starts and stops its own servers. */
export type Case = (dataDir: string, pace: Pace, wishes: Wishes) => Promise<Findings>;
