import { type Failure, withRetries } from "../waiting/retry.ts";
import type { Fetch } from "./fetch.ts";
import { type CallTraits, call, type FileBody } from "./http.ts";

/** The options of an admin client. */
export type AdminOptions = {
  /** The server address, for example `http://127.0.0.1:7070`. Its path becomes a prefix of every path. */
  url: string;
  /** The API key; white space around it is no part of it. Use it on servers only, never in web pages. */
  key: string;
  /** What calls are made with (default: the global `fetch`). */
  fetch?: Fetch | undefined;
  /**
   * How many times a failed call is retried (default 9). The waits are random and grow from 0.25 to 8 s, so that by default all
   * retries take 20 to 40 s: a server that restarts is back by then.
   */
  retries?: number | undefined;
  /** The timeout of one attempt in milliseconds, until its whole response is read (default 30,000). */
  timeoutMs?: number | undefined;
  /**
   * The time limit of a call in milliseconds (default none), with all retries and the waits between them, until its whole response
   * is read. `download` must have begun by then. Does not apply to what may take any time: `events`, batches, imports and exports.
   * A send with `wait`, and an upload, may take longer by as much as that needs.
   */
  deadlineMs?: number | undefined;
};

/** The options of every call. */
export type CallOptions = {
  /** Breaks the call off: it rejects with the reason of the signal. What was sent may have taken effect. */
  signal?: AbortSignal | undefined;
};

/** The options of `request`. `isSafe` says that the call is idempotent, so it may be retried. */
export type RequestOptions = CallOptions & {
  /** Whether the call is idempotent, so that it may be retried. */
  isSafe?: boolean;
};

/** Makes a call with its retries. Each of them, and all together, may take `waitMs` longer than usual. */
export type Exchange = (
  method: string,
  path: string,
  body: unknown,
  options: RequestOptions & CallTraits & { waitMs?: number },
) => Promise<{ body: unknown; headers: Headers }>;

/** Makes a call, and resolves with its answer, of the type that the caller expects. */
export type Request = <Answer>(
  method: string,
  path: string,
  body?: unknown,
  options?: RequestOptions,
) => Promise<Answer>;

/** How calls are made. */
export type Settings = {
  /** The address of the server, without a slash at the end. */
  root: string;
  key: string;
  fetch: Fetch;
  retries: number;
  timeoutMs: number;
  deadlineMs: number;
  minBackoffMs: number;
  maxBackoffMs: number;
};

const maxRetryAfterMs = 60_000;

/**
 * Makes attempts until one succeeds, no retries are left, or the deadline of the call is near. Each attempt is given its timeout in
 * milliseconds.
 */
export async function retry<Value>(
  attempt: (timeoutMs: number) => Promise<Value | Failure>,
  { retries, timeoutMs, deadlineMs, minBackoffMs, maxBackoffMs }: Settings,
  { isSafe = true, waitMs = 0, signal }: RequestOptions & { waitMs?: number },
): Promise<Value> {
  const startedAt = performance.now();
  const leftMs = () => startedAt + deadlineMs + waitMs - performance.now();
  return await withRetries(() => attempt(Math.ceil(Math.max(1, Math.min(timeoutMs + waitMs, leftMs())))), {
    retries,
    isSafe,
    minMs: minBackoffMs,
    maxMs: maxBackoffMs,
    maxRetryAfterMs,
    leftMs,
    signal,
  });
}

/** Creates the calls of a client. */
export function createExchange(settings: Settings): Exchange {
  const { root, key, fetch } = settings;
  return async (method, path, body, { isSafe = method !== "POST", waitMs = 0, signal, ...traits }) => {
    const sent =
      body === undefined || traits.type !== undefined ? (body as FileBody | undefined) : JSON.stringify(body);
    const attempt = (timeoutMs: number) =>
      call({ url: root + path, method, key, body: sent, ...traits, timeoutMs, fetch, signal });
    return await retry(attempt, settings, { isSafe, waitMs, signal });
  };
}
