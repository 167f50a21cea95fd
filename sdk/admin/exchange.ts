import { withRetries } from "../waiting/retry.ts";
import { type CallTraits, call, type Fetch, type FileBody } from "./http.ts";

/** The options of an admin client. */
export type AdminOptions = {
  /** The server address, for example `http://127.0.0.1:7070`. Its path becomes a prefix of every path. */
  url: string;
  /** The API key. Use it on servers only, never in web pages. */
  key: string;
  fetch?: Fetch | undefined;
  /** How many times a failed call is retried (default 5). */
  retries?: number | undefined;
  /** The timeout of one attempt in milliseconds (default 30,000). */
  timeoutMs?: number | undefined;
  /** The time limit of a call with all its retries, in milliseconds (default none). Does not apply to `events`. */
  deadlineMs?: number | undefined;
};

/** The options of every call. */
export type CallOptions = {
  /** Breaks the call off: it rejects with the reason of the signal. What was sent may have taken effect. */
  signal?: AbortSignal | undefined;
};

/** The options of `request`. `isSafe` says that the call is idempotent, so it may be retried. */
export type RequestOptions = CallOptions & { isSafe?: boolean };

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

type Settings = {
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

/** Creates the calls of a client. */
export function createExchange(settings: Settings): Exchange {
  const { root, key, fetch, retries, timeoutMs, deadlineMs, minBackoffMs, maxBackoffMs } = settings;
  return async (method, path, body, { isSafe = method !== "POST", waitMs = 0, signal, ...traits }) => {
    const sent =
      body === undefined || traits.type !== undefined ? (body as FileBody | undefined) : JSON.stringify(body);
    const startedAt = performance.now();
    const leftMs = () => startedAt + deadlineMs + waitMs - performance.now();
    const attempt = () =>
      call({
        url: root + path,
        method,
        key,
        body: sent,
        ...traits,
        timeoutMs: Math.ceil(Math.max(1, Math.min(timeoutMs + waitMs, leftMs()))),
        fetch,
        signal,
      });
    return await withRetries(attempt, {
      retries,
      isSafe,
      minMs: minBackoffMs,
      maxMs: maxBackoffMs,
      maxRetryAfterMs,
      leftMs,
      signal,
    });
  };
}
