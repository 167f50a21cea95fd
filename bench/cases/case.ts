import type { Row } from "../harness/report/report.ts";
import type { Pace, Series } from "../harness/report/rounds.ts";

/** What a part of the bench found: every run, the lines of the table, and tables of its own. */
export type Findings = { series: Record<string, Series>; rows: Row[]; tables?: string[] };

/** Options of the command line, for the parts that heed them. */
export type Wishes = {
  /** The folder of another checkout, to be measured beside this one. */
  against: string | undefined;
  /** How many connections. */
  size: number | undefined;
  /** SQLite in place of PostgreSQL. */
  isEmbedded: boolean;
  /** The share of a core that PostgreSQL may have. */
  databaseShare: number | undefined;
};

/** A part of the bench; it starts its own servers, and stops them. */
export type Case = (dataDir: string, pace: Pace, wishes: Wishes) => Promise<Findings>;
