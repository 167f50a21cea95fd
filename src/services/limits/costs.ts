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

// Replays are cheap: they go out as stored, and all devices of a user reconnect together after a restart, possibly more
// than once.
const replayed = { rowsPerUnit: 250, bytesPerUnit: 256 * 1024 };
const transferred = { linesPerUnit: 500, bytesPerUnit: 256 * 1024 };

/**
 * What callers pay, in requests: keys and organizations of their rates, users of their budgets for a minute. It is what the
 * documentation says, and the same on every machine; `threadCosts` only decides who goes next.
 */
export const requestCosts = {
  /** Bytes of a body or a response: 1 for each full 64 KiB, in addition to the 1 of every call. */
  bytes: (bytes: number) => Math.floor(bytes / (64 * 1024)),
  /** Recipients of an event whose deliveries are read from the start. */
  deliveries: (recipients: number) => Math.floor(recipients / 1_000),
  /** Users who were looked at for a list, and are not in it. */
  candidates: (users: number) => Math.floor(users / 100),
  /** Lines that are imported or exported. */
  lines: (lines: number, bytes: number) => Math.max(lines / transferred.linesPerUnit, bytes / transferred.bytesPerUnit),
  /** A request over a socket. */
  request: 1,
  /** A new connection, or the next token of one. */
  connect: 0.2,
  /** An answer over a socket that is built from what the store returns. */
  answer: (bytes: number) => Math.max(1, bytes / (64 * 1024)),
  /** Cheap, so that a client that acknowledges messages one by one pays little for what others send it. */
  receipts: (ids: number) => Math.max(0.1, ids / 50),
  /** In addition to the answer, for unread messages or reactions that were read one by one: a millisecond of reading. */
  counting: (read: number) => read / 2_500,
  /** In addition to the answer, for users or conversations that were looked up one by one. */
  lookups: (named: number) => named / 20,
  /** In addition to the request, for connections that hear of it at once. */
  hearers: (connections: number) => connections / 20,
  /** In addition to the request, for the conversations in which a connection becomes inactive, or active again. */
  audiences: (changed: number) => changed / 500,
  /** A request for a file, in addition to its bytes; cheap, as a page may show hundreds of pictures. */
  file: 0.25,
  /** Cheap, as the operating system sends them. */
  downloaded: (bytes: number) => bytes / (4 * 1024 * 1024),
  /** A page of missed events. */
  replay: (rows: number, bytes: number) => Math.max(rows / replayed.rowsPerUnit, bytes / replayed.bytesPerUnit),
} as const;

/** The name under which an address takes turns with organizations, whose ids contain no line feed. */
export const addressName = (address: string) => `\n${address}`;
