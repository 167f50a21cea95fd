import { answerHeaders } from "../../contract/answer-headers.ts";
import type { AuditTarget } from "../../contract/audit.ts";
import { isObject } from "../../lib/json/json-values.ts";

/**
 * What a handler answers. Without a `body` the answer has none; `stream` is one of server-sent events instead, and open for as
 * long as it likes. `isReplay`: an earlier call did it, and was answered so. `target` goes into the audit log, not into the answer.
 */
export type Answer = {
  status: number;
  stream?: ReadableStream<Uint8Array>;
  headers?: Record<string, string>;
  isReplay?: boolean;
  target?: AuditTarget;
} & ({ body?: unknown; contentType?: undefined } | { body: string; contentType: string });

/** How many there are in the page that an answer holds. */
export function rowsIn(body: unknown): number {
  return isObject(body) && Array.isArray(body.items) ? body.items.length : 0;
}

/** The response of an answer that is no stream. `toBody` is given the text of its body. */
export function toResponse(
  { status, body, contentType, headers, isReplay = false }: Answer,
  requestId: string,
  toBody: (text: string) => string | ReadableStream<Uint8Array>,
): Response {
  if (body === undefined)
    return new Response(null, { status, headers: { "X-Request-Id": requestId, ...answerHeaders, ...headers } });
  const text = contentType === undefined ? JSON.stringify(body) : body;
  return new Response(toBody(text), {
    status,
    headers: {
      "Content-Type": contentType ?? "application/json",
      "X-Request-Id": requestId,
      ...answerHeaders,
      ...headers,
      ...(isReplay && { "Idempotent-Replayed": "true" }),
    },
  });
}

/** Answers with server-sent events, which the connection carries to its end. Who asks for the head alone is given no stream. */
export async function toStream(
  stream: ReadableStream<Uint8Array>,
  request: Request,
  requestId: string,
  runtime: { timeout(request: Request, seconds: number): void },
): Promise<Response> {
  if (request.method === "HEAD") await discard(stream);
  else runtime.timeout(request, 0);
  return new Response(request.method === "HEAD" ? null : stream, {
    headers: {
      "Content-Type": "text/event-stream",
      "X-Accel-Buffering": "no",
      "X-Request-Id": requestId,
      ...answerHeaders,
      Connection: "close", // Bun keeps "no time-out" for whatever follows on the connection, so nothing may follow
    },
  });
}

/** Ends a stream that nobody will read; one that has failed already has ended. */
export async function discard(stream: ReadableStream<Uint8Array> | undefined): Promise<void> {
  await stream?.cancel().catch(() => undefined);
}
