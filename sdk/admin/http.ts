import { mediaTypeOf } from "../connection/media-type.ts";
import { type FieldError, HeraldApiError, HeraldArgumentError } from "../errors.ts";
import { type Failure, readRetryAfter } from "../waiting/retry.ts";
import { limitTime } from "../waiting/timers.ts";
import { environmentProxyFor } from "./environment.ts";
import type { Fetch } from "./fetch.ts";
import { explainFailure } from "./network-failures.ts";

const linesType = "application/x-ndjson";

/** What is particular to a call. */
export type CallTraits = {
  /** Further headers. */
  headers?: Record<string, string>;
  /** The type of a successful response (default JSON). */
  as?: "json" | "text";
  /** A status besides 2xx whose JSON is an answer, and no error. */
  alsoAnswers?: number;
  /** The media type of the body (default JSON). */
  type?: string;
};

/** The bytes of a file: what is at hand, or a stream, which can be sent only once. */
export type FileBody = string | Uint8Array | Blob | ReadableStream<Uint8Array>;

/** One call. `body` is sent unchanged. */
export type HttpCall = CallTraits & {
  url: string;
  method: string;
  key: string;
  body: FileBody | undefined;
  timeoutMs: number;
  fetch: Fetch;
  signal?: AbortSignal | undefined;
};

/** Makes one call. Resolves with the value of a successful response (`undefined` if empty) and its headers, or with the failure. */
export async function call({
  url,
  method,
  key,
  body,
  headers: further = {},
  as = "json",
  alsoAnswers,
  type = "application/json",
  timeoutMs,
  fetch,
  signal,
}: HttpCall): Promise<{ body: unknown; headers: Headers } | Failure> {
  const accept = as === "json" ? "application/json" : "text/plain";
  const headers = headersOf(key, { Accept: accept, ...further, ...(body !== undefined && { "Content-Type": type }) });
  const limit = limitTime(timeoutMs, signal);
  let response: Response;
  let text: string;
  try {
    // Redirects are not followed: `fetch` would send the key to any address that the redirect names.
    const init: RequestInit = { method, headers, redirect: "manual", signal: limit.signal };
    response = await fetch(url, body === undefined ? init : { ...init, ...bodyOfRequest(body) });
    text = await response.text();
  } catch (cause) {
    signal?.throwIfAborted();
    return await failureOfNetwork(url, cause, timeoutMs, fetch);
  } finally {
    limit.end();
  }
  if (as === "text" && response.ok && mediaTypeOf(response) === accept)
    return { body: text, headers: response.headers };
  const json = readJson(text);
  // Where a network wants the user to sign in, anything may be answered with 200, such as an empty page.
  const isJson = as === "json" && (response.status === 204 || (json !== undefined && mediaTypeOf(response) === accept));
  const isAnswer = response.ok || response.status === alsoAnswers;
  if (isAnswer && isJson) return { body: json, headers: response.headers };
  return failureOf(response, json);
}

/** The headers of a call. Without a key, the server says that it is missing. Throws `HeraldArgumentError` for what no header can have. */
function headersOf(key: string, further: Record<string, string>): Record<string, string> {
  for (const [name, value] of Object.entries(further))
    if (/[^ -~]/.test(value))
      throw new HeraldArgumentError(`The header ${name} cannot have this value: it has other than ASCII characters.`);
  return { ...(key !== "" && { "Admin-Api-Key": key }), ...further };
}

/** What `fetch` needs to send a body: for a stream, that nothing is read before all is sent, which not all of its types know. */
function bodyOfRequest(body: FileBody): Pick<RequestInit, "body"> {
  if (typeof body === "string" || body instanceof Blob) return { body };
  if (body instanceof Uint8Array) return { body: new Blob([new Uint8Array(body)]) };
  return { body, duplex: "half" } as RequestInit;
}

/**
 * Downloads bytes. Resolves with the response once it begins, which must be within `timeoutMs`, or with the failure.
 */
export async function openBytes({
  url,
  key,
  timeoutMs,
  fetch,
  signal,
}: Pick<HttpCall, "url" | "key" | "timeoutMs" | "fetch" | "signal">): Promise<{ response: Response } | Failure> {
  const over = new AbortController();
  const abort = () => over.abort(signal?.reason);
  signal?.addEventListener("abort", abort);
  const timer = setTimeout(() => over.abort(new DOMException("late", "TimeoutError")), timeoutMs);
  try {
    signal?.throwIfAborted();
    const asked = await fetch(url, { headers: headersOf(key, {}), redirect: "manual", signal: over.signal });
    const elsewhere = asked.status === 302 ? asked.headers.get("location") : null;
    const response = elsewhere === null ? asked : await fetch(elsewhere, { signal: over.signal }); // without the key
    return response.ok ? { response } : failureOf(response, readJson(await response.text()));
  } catch (cause) {
    signal?.removeEventListener("abort", abort);
    signal?.throwIfAborted();
    return await failureOfNetwork(url, cause, timeoutMs, fetch);
  } finally {
    clearTimeout(timer);
  }
}

/** Opens a stream of server-sent events, which must begin within `timeoutMs`. Resolves with its body, or with the failure. */
export async function openStream({
  url,
  key,
  timeoutMs,
  fetch,
  signal,
}: Pick<HttpCall, "url" | "key" | "timeoutMs" | "fetch"> & { signal?: AbortSignal }): Promise<
  { body: ReadableStream<Uint8Array> } | Failure
> {
  const late = new AbortController();
  const abort = (reason: unknown) => late.abort(reason);
  const timer = setTimeout(() => abort(new DOMException("late", "TimeoutError")), timeoutMs);
  signal?.addEventListener("abort", () => abort(signal.reason));
  try {
    const headers = headersOf(key, { Accept: "text/event-stream" });
    const response = await fetch(url, { headers, redirect: "manual", signal: late.signal });
    return await bodyOf(response, "text/event-stream");
  } catch (cause) {
    return await failureOfNetwork(url, cause, timeoutMs, fetch);
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Sends lines of JSON, or asks for them, for as long as that takes. Resolves with the body of the response when it begins, which
 * may be before everything is sent, or with the failure.
 */
export async function openLines({
  url,
  method,
  key,
  fetch,
  body,
  signal,
}: Pick<HttpCall, "url" | "method" | "key" | "fetch"> & {
  body?: ReadableStream<Uint8Array> | undefined;
  signal?: AbortSignal | undefined;
}): Promise<{ body: ReadableStream<Uint8Array> } | Failure> {
  const headers = headersOf(key, { Accept: linesType });
  const options = { method, redirect: "manual", ...(signal !== undefined && { signal }) } as const;
  const sent = body && { body, duplex: "half", headers: { ...headers, "Content-Type": linesType } };
  try {
    const response = await fetch(url, { ...options, headers, ...sent });
    return await bodyOf(response, linesType);
  } catch (cause) {
    return await failureOfNetwork(url, cause, 0, fetch);
  }
}

/** The body of a successful response of this type, or the failure. */
async function bodyOf(response: Response, type: string): Promise<{ body: ReadableStream<Uint8Array> } | Failure> {
  if (response.status === 200 && mediaTypeOf(response) === type && response.body !== null)
    return { body: response.body };
  return failureOf(response, readJson(await response.text()));
}

/** The failure of a call because of an error of `fetch`. */
async function failureOfNetwork(url: string, cause: unknown, timeoutMs: number, fetch: Fetch): Promise<Failure> {
  const { why, where, advice, isFinal } = await explainFailure(url, cause, timeoutMs, fetch);
  const detail = `No response from ${where}: ${why}`;
  return { error: new HeraldApiError({ status: 0, code: "unreachable", detail, advice, cause }), isFinal };
}

/** The failure of a call that got no response, or an incomplete one. */
export function unreachable(url: string, why: string, cause?: unknown): Failure {
  const detail = `No response from ${new URL(url).origin}: ${why}`;
  return { error: new HeraldApiError({ status: 0, code: "unreachable", detail, cause }) };
}

function failureOf(response: Response, json: unknown): Failure {
  return { error: toApiError(response, json), retryAfterMs: readRetryAfter(response.headers.get("Retry-After")) };
}

function readJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Reads `application/problem+json` (RFC 9457). Any other response, such as a proxy's, becomes the code `not_herald`. */
export function toApiError(response: Response, json: unknown): HeraldApiError {
  const status = response.status || 302; // a browser hides the status of a redirect
  const problem: Partial<Record<string, unknown>> = typeof json === "object" && json !== null ? json : {};
  const requestId = response.headers.get("X-Request-Id") ?? undefined;
  if (response.ok || typeof problem.code !== "string") {
    const url = response.url || "http://unknown";
    const proxy = environmentProxyFor(url);
    const through = proxy === undefined ? "" : ` through the proxy ${proxy.host} (from ${proxy.variable})`;
    const detail = `${new URL(url).origin} responded with ${status}${through}, but not like a Herald server`;
    return new HeraldApiError({ status, code: "not_herald", detail, requestId });
  }
  const title = typeof problem.title === "string" ? problem.title : undefined;
  const detail = typeof problem.detail === "string" ? problem.detail : (title ?? problem.code);
  const errors = Array.isArray(problem.errors) ? problem.errors.filter(isFieldError) : [];
  const length = typeof problem.length === "number" ? problem.length : undefined;
  return new HeraldApiError({ status, code: problem.code, title, detail, requestId, errors, length });
}

function isFieldError(error: unknown): error is FieldError {
  return typeof error === "object" && error !== null && "pointer" in error && "detail" in error;
}
