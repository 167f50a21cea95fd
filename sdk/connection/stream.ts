import { HeraldConnectionError, HeraldRequestError } from "../errors.ts";
import { withTimeout } from "../waiting/timers.ts";
import type { Connection, ConnectionOptions, Ending } from "./connection.ts";
import { createEventReader } from "./event-reader.ts";
import { readError } from "./frames.ts";
import { mediaTypeOf } from "./media-type.ts";

/** How long a stream goes on beside the one that replaces it, so that nothing on its way is lost. */
const overlapMs = 1_000;

/**
 * Opens server-sent events with `fetch`, as `EventSource` sends no headers. Rejects with `HeraldRequestError` if a Herald server
 * refuses, with the time of `Retry-After` in the message, and with another error if something else answers.
 */
async function fetchEvents(url: string, headers: Record<string, string>, signal: AbortSignal): Promise<Response> {
  // Herald redirects nowhere, so a redirect is that of a network that wants the user to sign in.
  const response = await fetch(url, { headers, redirect: "manual", signal });
  const type = mediaTypeOf(response);
  if (response.status === 200 && type === "text/event-stream") return response;
  const problem: unknown =
    type === "application/problem+json" ? await response.json().catch(() => undefined) : undefined;
  if (typeof problem !== "object" || problem === null || !("code" in problem) || response.ok)
    throw new HeraldConnectionError(
      `${url} answered ${response.status || "with a redirect"} with ${type || "no type"} instead of server-sent events; it may not be a Herald server, or a proxy or the sign-in page of a network answers for it`,
    );
  const error = readError(problem);
  const wait = response.headers.get("retry-after");
  throw new HeraldRequestError({ ...error, message: error.message + (wait ? `; retry in ${wait} s` : "") });
}

/**
 * Opens a connection that receives server-sent events, for networks that block WebSockets. `connect` opens a stream, which replaces
 * the previous one without a gap, and so does `ping`; other requests reject with `not_supported`.
 */
export function openStream(url: string, since: () => string | undefined, options: ConnectionOptions): Connection {
  const { requestTimeoutMs, onText, onError, onEnd, onOpen } = options;
  let token: unknown;
  let current: AbortController | undefined;
  const over = new AbortController();

  function end(ending: Ending) {
    if (over.signal.aborted) return;
    over.abort();
    onEnd(ending);
  }

  async function read(body: ReadableStream<Uint8Array>) {
    const decoder = new TextDecoder();
    const events = createEventReader();
    const reader = body.getReader();
    const hear = (text: string) => over.signal.aborted || onText(text);
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      hear("{}"); // whatever arrives is a sign of life, such as a comment
      for (const { data } of events.read(decoder.decode(value, { stream: true }))) hear(data ?? "{}");
    }
  }

  async function open(): Promise<Record<string, unknown>> {
    const before = current;
    const mine = new AbortController();
    const last = since();
    const headers = { Authorization: `Bearer ${token}`, ...(last !== undefined && { "Last-Event-ID": last }) };
    over.signal.addEventListener("abort", () => mine.abort(), { signal: mine.signal });
    const opening = withTimeout(fetchEvents(url, headers, mine.signal), requestTimeoutMs, "response");
    const { body, headers: answer } = await opening.catch((error: unknown) => {
      mine.abort();
      throw error;
    });
    current = mine;
    if (before) setTimeout(() => before.abort(), overlapMs);
    // Not before the caller knows that the stream is open.
    const reading = new Promise((resolve) => setTimeout(resolve)).then(() => body && read(body));
    const close = (reason: string, cause?: unknown) =>
      current === mine && end({ code: 1006, reason, ...(cause !== undefined && { cause }) });
    reading.then(
      () => close("the stream ended"),
      (cause: unknown) => close("the stream broke", cause),
    );
    const recovered = answer.get("herald-recovered");
    return recovered ? { recovered: recovered === "true" } : {};
  }

  queueMicrotask(onOpen);
  return {
    async request(name, parameters) {
      if (name === "connect") token = parameters.token;
      else if (name !== "ping") {
        const message = `${name} needs a WebSocket, but this connection uses server-sent events, as the WebSocket did not open`;
        throw new HeraldRequestError({ status: 501, code: "not_supported", message });
      }
      return await open();
    },
    settle: ({ error }) => error && onError(new HeraldRequestError(error)),
    end,
  };
}
