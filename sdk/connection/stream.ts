import { HeraldConnectionError, HeraldRequestError } from "../errors.ts";
import { withTimeout } from "../waiting/timers.ts";
import type { Connection, ConnectionOptions, Ending } from "./connection.ts";
import { readError } from "./frames.ts";

/** How long a stream goes on beside the one that replaces it, so that nothing on its way is lost. */
const overlapMs = 1_000;

/**
 * Opens server-sent events with `fetch`, as `EventSource` sends no headers. Rejects with `HeraldRequestError` if a Herald server
 * refuses, with the time of `Retry-After` in the message, and with another error if there is none at the address.
 */
async function fetchEvents(
  url: string,
  { ms, over, headers: asked = {} }: { ms: number; over: AbortController; headers?: Record<string, string> },
): Promise<Response> {
  const answer = fetch(url, { headers: asked, signal: over.signal });
  const response = await withTimeout(answer, ms, "response").catch((error: unknown) => {
    over.abort();
    throw error;
  });
  const { ok, status, headers } = response;
  if (ok) return response;
  const problem: unknown = await response.json().catch(() => undefined);
  if (!headers.get("content-type")?.includes("problem"))
    throw new HeraldConnectionError(`${url} answered ${status}; it may not be a Herald server`);
  const error = readError(problem);
  const wait = headers.get("retry-after");
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
    const reader = body.getReader();
    for (let text = ""; ; ) {
      const { done, value } = await reader.read();
      if (done) return;
      const blocks = (text + decoder.decode(value, { stream: true })).split("\n\n");
      text = blocks.pop() ?? "";
      for (const block of blocks) if (!over.signal.aborted) onText(/^data: (.*)/m.exec(block)?.[1] ?? "{}"); // a comment is a sign of life
    }
  }

  async function open(): Promise<Record<string, unknown>> {
    const before = current;
    const mine = new AbortController();
    const last = since();
    const headers = { Authorization: `Bearer ${token}`, ...(last !== undefined && { "Last-Event-ID": last }) };
    over.signal.addEventListener("abort", () => mine.abort(), { signal: mine.signal });
    const { body, headers: answer } = await fetchEvents(url, { headers, ms: requestTimeoutMs, over: mine });
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
