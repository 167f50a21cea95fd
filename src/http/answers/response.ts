import { answerHeaders } from "../../contract/answer-headers.ts";
import type { AuditTarget } from "../../contract/audit.ts";
import { isObject } from "../../lib/json/json-values.ts";

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

/** The number of items, if the body is a page of a list. */
export function rowsIn(body: unknown): number {
  return isObject(body) && Array.isArray(body.items) ? body.items.length : 0;
}

/**
 * The header that tells the length of a body to HEAD (RFC 9110, section 9.3.2), for which Hono drops the body before Bun
 * could count it. For other methods, Bun adds it.
 */
export function lengthForHead({ method }: Request, body: string | Uint8Array = ""): Record<string, string> {
  return method === "HEAD" ? { "Content-Length": String(Buffer.byteLength(body)) } : {};
}

/** Builds the response for an answer without a stream. `toBody` gets the text of the body. */
export function toResponse(
  { status, body, contentType, headers, isReplay = false }: Answer,
  request: Request,
  requestId: string,
  toBody: (text: string) => string | ReadableStream<Uint8Array>,
): Response {
  if (body === undefined)
    return new Response(null, { status, headers: { "X-Request-Id": requestId, ...answerHeaders, ...headers } });
  const text = contentType === undefined ? JSON.stringify(body) : body;
  const ownHeaders = {
    "Content-Type": contentType ?? "application/json",
    "X-Request-Id": requestId,
    ...answerHeaders,
    ...lengthForHead(request, text),
    ...headers,
  };
  return new Response(toBody(text), {
    status,
    headers: isReplay ? { ...ownHeaders, "Idempotent-Replayed": "true" } : ownHeaders,
  });
}

/**
 * Responds with a stream, the last response on the connection. HEAD requests get the headers without the stream.
 * Server-sent events stay open however long there are none; other streams end if the caller stops reading and sending.
 */
export async function toStream(
  { stream, streamType = "text/event-stream" }: { stream: ReadableStream<Uint8Array>; streamType?: string | undefined },
  request: Request,
  requestId: string,
  runtime: { timeout(request: Request, seconds: number): void },
): Promise<Response> {
  const isHead = request.method === "HEAD";
  if (isHead) await discard(stream);
  else if (streamType === "text/event-stream") runtime.timeout(request, 0);
  return new Response(isHead ? null : stream, {
    headers: {
      ...(isHead && { "Transfer-Encoding": "chunked" }), // as with GET; without it, Bun says that nothing would come
      "Content-Type": streamType,
      "X-Accel-Buffering": "no",
      "X-Request-Id": requestId,
      ...answerHeaders,
      Connection: "close", // Bun keeps the disabled time-out for later requests on the connection, so there must be none
    },
  });
}

/** Ends a stream that nobody will read; one that has failed is ended already. */
export async function discard(stream: ReadableStream<Uint8Array> | undefined): Promise<void> {
  await stream?.cancel().catch(() => undefined);
}
