import type { z } from "zod";
import type { AuditTarget } from "../../contract/audit.ts";
import type { Caller } from "../../services/keys/permissions.ts";
import type { Listener } from "../calls.ts";

/** The validated input of a handler. */
export type Input<Params extends z.ZodType, Query extends z.ZodType, Body extends z.ZodType | undefined> = {
  /** The caller; `nobody` if the operation takes no key. */
  caller: Caller;
  params: z.output<Params>;
  query: z.output<Query>;
  body: BodyOf<Body>;
  /** The headers of the request, unchanged. */
  headers: Headers;
};

/** The value of a body with this schema; `undefined` if the operation takes none. */
export type BodyOf<Body extends z.ZodType | undefined> = Body extends z.ZodType ? z.output<Body> : undefined;

/** Does the work of an operation: calls its service, and returns what to answer. */
export type Handler<Params extends z.ZodType, Query extends z.ZodType, Body extends z.ZodType | undefined> = (
  input: Input<Params, Query, Body>,
  call: () => LongCall,
) => Promise<Answer>;

/**
 * What a handler returns. Without `body`, the response has none; `stream` is a body of server-sent events that stays
 * open, or of `streamType`, which ends. `isRecorded`: the handler records the call in the audit log itself. `isReplay`:
 * an earlier call did the work and got the same answer. `waitedMs`: how long it waited because the caller asked for
 * that. `target` goes to the audit log, not into the response.
 */
export type Answer = {
  status: number;
  stream?: ReadableStream<Uint8Array>;
  streamType?: string;
  isRecorded?: boolean;
  headers?: Record<string, string>;
  isReplay?: boolean;
  waitedMs?: number;
  target?: AuditTarget;
} & ({ body?: unknown; contentType?: undefined } | { body: string; contentType: string });

/** What a long-running handler may know of its call. */
export type LongCall = {
  /** The address of the caller; empty if unknown. */
  address: string;
  /** Where the call came in. */
  listener: Listener;
  requestId: string;
  /** The declared length of its body, in bytes. */
  bodyBytes: number | undefined;
  /**
   * Its signal aborts when the caller hangs up. Bun creates the signal when it is first read. Only an operation of lines
   * reads the body.
   */
  request: Pick<Request, "signal" | "body">;
  /** Does work during which nothing is sent for so many seconds. Resolves or rejects with it. */
  mayIdle<Result>(seconds: number, work: () => Promise<Result>): Promise<Result>;
  /** The response has ended: the bytes handed out must be taken within seconds, or the connection is cut. */
  endSoon(): void;
  /** Checks again whether the key is valid and still permits this; rejects with the error that a new call would get. */
  permit(): Promise<void>;
  /** Charges more work to the call, in requests. Resolves once its limits allow more. */
  pay(cost: number, options?: PayOptions): Promise<void>;
  /** Records the success of the call in the audit log, with what came of its lines. */
  record(counts: LineCounts): Promise<void>;
};

/** What came of the lines of a call. `organization`: the only one that they were for, unless the path names it. */
type LineCounts = {
  organization?: string | undefined;
  lines: number;
  failed: number;
  stored?: number;
  replayed?: number;
};

/**
 * `org`: the organization that pays if the key has none. `withinMs`: rejects with `rate_limited` if the limits do not
 * allow more by then.
 */
export type PayOptions = { org?: string | undefined; withinMs?: number };
