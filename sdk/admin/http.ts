import { type FieldError, HeraldApiError } from "../errors.ts";
import { type Failure, readRetryAfter } from "../waiting/retry.ts";

/** The part of `fetch` that the admin client uses. */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

/** One call: `body` is sent as it is. */
export type HttpCall = {
  url: string;
  method: string;
  key: string;
  body: string | undefined;
  timeoutMs: number;
  fetch: Fetch;
};

/** Makes one call. Resolves with the JSON of a successful answer (`undefined` when empty), or with the failure. */
export async function call({
  url,
  method,
  key,
  body,
  timeoutMs,
  fetch,
}: HttpCall): Promise<{ body: unknown } | Failure> {
  const headers: Record<string, string> = { "Admin-Api-Key": key, Accept: "application/json" };
  if (body !== undefined) headers["Content-Type"] = "application/json";
  let response: Response;
  let text: string;
  try {
    // A redirect is not followed: `fetch` would hand the key to whatever address it names.
    const init: RequestInit = { method, headers, redirect: "manual", signal: AbortSignal.timeout(timeoutMs) };
    response = await fetch(url, body === undefined ? init : { ...init, body });
    text = await response.text();
  } catch (cause) {
    return unreachable(url, describe(cause, timeoutMs), cause);
  }
  const json = readJson(text);
  if (response.ok && (text === "" || json !== undefined)) return { body: json };
  return failureOf(response, json);
}

/** Opens a stream of server-sent events, which must begin within `timeoutMs`. Resolves with its body or with the failure. */
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
    const headers = { "Admin-Api-Key": key, Accept: "text/event-stream" };
    const response = await fetch(url, { headers, redirect: "manual", signal: late.signal });
    const isStream = response.headers.get("Content-Type")?.startsWith("text/event-stream") === true;
    if (response.ok && isStream && response.body !== null) return { body: response.body };
    return failureOf(response, readJson(await response.text()));
  } catch (cause) {
    return unreachable(url, describe(cause, timeoutMs), cause);
  } finally {
    clearTimeout(timer);
  }
}

/** The failure of a call that was not answered, or not to its end. */
export function unreachable(url: string, why: string, cause?: unknown): Failure {
  const detail = `No answer from ${new URL(url).origin}: ${why}`;
  return { error: new HeraldApiError({ status: 0, code: "unreachable", detail, cause }), retryAfterMs: undefined };
}

function failureOf(response: Response, json: unknown): Failure {
  return { error: toError(response, json), retryAfterMs: readRetryAfter(response.headers.get("Retry-After")) };
}

/** Bun has the system's code on the error, Node on its cause, a browser nowhere. */
function describe(error: unknown, timeoutMs: number): string {
  if (!(error instanceof Error)) return String(error);
  if (error.name === "TimeoutError") return `nothing within ${timeoutMs / 1000} s`;
  for (const { code } of [error, error.cause ?? {}] as { code?: unknown }[]) if (typeof code === "string") return code;
  return error.message;
}

function readJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Reads `application/problem+json` (RFC 9457). Another answer, say of a proxy, becomes the code `not_herald`. */
function toError(response: Response, json: unknown): HeraldApiError {
  const status = response.status || 302; // a browser hides the status of a redirect
  const problem: Partial<Record<string, unknown>> = typeof json === "object" && json !== null ? json : {};
  const requestId = response.headers.get("X-Request-Id") ?? undefined;
  if (response.ok || typeof problem.code !== "string") {
    const detail = `${new URL(response.url || "http://unknown").origin} answered ${status}, but not as Herald does; is the address right?`;
    return new HeraldApiError({ status, code: "not_herald", detail, requestId });
  }
  const detail = typeof problem.detail === "string" ? problem.detail : String(problem.title ?? problem.code);
  const errors = Array.isArray(problem.errors) ? problem.errors.filter(isFieldError) : [];
  return new HeraldApiError({ status, code: problem.code, detail, requestId, errors });
}

function isFieldError(error: unknown): error is FieldError {
  return typeof error === "object" && error !== null && "pointer" in error && "detail" in error;
}
