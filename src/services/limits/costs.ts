import { threadSliceUs } from "../../lib/event-loop/thread-scheduler.ts";

/**
 * What work costs the thread that serves all connections, in microseconds of a 2 GHz core; the scheduler shares the thread
 * by these. They need not be exact: what is too cheap makes a slice longer than a millisecond by as much.
 */
export const threadCosts = {
  /** Work in slices, which a clock measures. */
  slice: threadSliceUs,
  /** A request, with the parsing and validation of its body. */
  request: (bodyBytes = 0) => 25 + bodyBytes / 50,
  /** An answer, by its rows. */
  rows: (rows: number) => rows,
  /** A line of a batch, or of another stream of lines. */
  line: (bytes: number) => 30 + bytes / 50,
  /** A connection that is opened: its token, and its place in topics and rosters. */
  connect: 250,
  /** A refusal, with what has to be read of its body. */
  refusal: (bodyBytes = 0) => 50 + bodyBytes / 1_000,
  /** Bytes that are handed on as they are: pages of missed events, pieces of files, lines of an export. */
  bytes: (bytes: number) => 25 + bytes / 250,
  /** Writes to sockets: the first event of a turn of the event loop makes each socket write, others are appended to it. */
  deliveries: (sockets: number, deliveries: number) => 5 * sockets + 0.5 * deliveries,
} as const;
