import type { Row } from "../harness/report.ts";
import type { Pace, Series } from "../harness/rounds.ts";

/** What a part of the bench found: every run, and the lines of the table. */
export type Findings = { series: Record<string, Series>; rows: Row[] };

/** A part of the bench; it starts its own servers, and stops them. */
export type Case = (dataDir: string, pace: Pace) => Promise<Findings>;
