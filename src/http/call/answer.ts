import { answerHeaders } from "../../contract/answer-headers.ts";
import type { AuditTarget } from "../../contract/audit.ts";
import { toHeraldError } from "../../contract/errors/errors.ts";
import { problemResponse } from "../../contract/errors/problem.ts";
import { toIso } from "../../contract/identifiers.ts";
import { threadCosts } from "../../services/limits/costs.ts";
import type { Content } from "../answers/long-answers.ts";
import { isTooLongToDrop } from "../requests/body.ts";
import type { Exchange, PathParts } from "./exchange.ts";
import { addTarget, type Recorder } from "./record.ts";

const endedWithinSeconds = 5;
const shortCharacters = 16_384; // or bytes; at most 48 KiB: such a response costs nothing, and is handed over at once
const rowsPerRequest = 100; // of a response: a page of a thousand is as much work as ten requests

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
} & ({ body?: unknown; contentType?: undefined } | { body: Content; contentType: string });

/** The response has ended: the bytes handed out must be taken within seconds, or the connection is cut. */
export function endSoon({ request, call }: Exchange): void {
  call.from.timeout(request, endedWithinSeconds);
}

/**
 * Creates the step that responds with what the handlers of an operation return, after the audit log has recorded it. Waits
 * only for that, for a stream, or for a turn of the thread. Rejects if the success cannot be recorded.
 */
export function createResponder({ charges, takeTurn, longAnswers }: PathParts, { isAudited, succeed }: Recorder) {
  function write(exchange: Exchange, { status, body, contentType, headers, isReplay = false }: Answer): Response {
    const { request, call, caller, charge } = exchange;
    const { requestId } = call;
    if (body === undefined)
      return new Response(null, { status, headers: { "X-Request-Id": requestId, ...answerHeaders, ...headers } });
    const content = contentType === undefined ? JSON.stringify(body) : body;
    const own: Record<string, string> = {
      "Content-Type": contentType ?? "application/json",
      "X-Request-Id": requestId,
      ...answerHeaders,
    };
    if (isReplay) own["Idempotent-Replayed"] = "true";
    if (headers !== undefined) Object.assign(own, headers);
    if (content.length > shortCharacters) charges.addAnswer(charge, content);
    if (request.method === "HEAD")
      return new Response(content, { status, headers: { ...lengthForHead(request, content), ...own } });
    if (content.length <= shortCharacters) return new Response(content, { status, headers: own });
    const answering = { org: call.org ?? caller.rights.org ?? undefined, request, endSoon: () => endSoon(exchange) };
    return new Response(longAnswers.bodyOf(content, answering), { status, headers: own });
  }

  function respond(exchange: Exchange, answer: Answer): Response | Promise<Response> {
    if (answer.stream !== undefined) return streamTo(exchange, answer.stream, answer.streamType);
    const rows = rowsIn(answer.body);
    charges.addWork(exchange.charge, Math.floor(rows / rowsPerRequest));
    const turn = rows > 0 ? takeTurn(exchange, threadCosts.rows(rows)) : undefined;
    return turn === undefined ? write(exchange, answer) : turn.then(() => write(exchange, answer));
  }

  return (exchange: Exchange, answer: Answer): Response | Promise<Response> => {
    const { call } = exchange;
    call.isReplay = answer.isReplay === true;
    call.waitedMs = answer.waitedMs ?? 0;
    if (answer.target !== undefined) addTarget(exchange, answer.target);
    if (!isAudited || answer.isRecorded === true) return respond(exchange, answer);
    return succeed(exchange, answer.status).then(() => respond(exchange, answer));
  };
}

/**
 * Creates the step that responds to a call that failed, whose `answer` nobody will read. Errors become problem documents only
 * here; unknown errors are logged and shown as `internal`. A refusal takes its turn like a call, so that a thousand at once keep
 * nobody waiting; meanwhile the body is dropped. One that may have no end waits for its turn later, to close the connection.
 */
export function createRefuser({ charges, takeTurn, redact, onError }: PathParts, recorder: Pick<Recorder, "fail">) {
  async function waitForTurn(exchange: Exchange): Promise<void> {
    const turn = takeTurn(exchange, threadCosts.refusal());
    if (turn === undefined) return;
    const { bodyUsed, body } = exchange.request;
    if (!bodyUsed) await discard(body ?? undefined); // otherwise Bun would keep up to two megabytes of it
    await turn;
  }

  return async (exchange: Exchange, thrown: unknown, answer: Answer | undefined): Promise<Response> => {
    const { call, charge } = exchange;
    const { requestId } = call;
    await discard(answer?.stream);
    if (call.isBodyRead || !isTooLongToDrop(call.bodyBytes)) await waitForTurn(exchange);
    const error = toHeraldError(thrown);
    if (error.status === 500) onError(thrown, requestId);
    call.code = error.code;
    recorder.fail(exchange, error);
    charges.close(charge);
    return problemResponse(error, requestId, redact);
  };
}

/** Warns a caller who still uses an old secret of a rotated key. */
export function tellExpiry({ caller: { secretExpiresAt } }: Exchange, response: Response): Response {
  if (secretExpiresAt !== undefined) response.headers.set("Herald-Key-Expires", toIso(secretExpiresAt));
  return response;
}

/** The number of items, if the body is a page of a list. */
function rowsIn(body: unknown): number {
  if (typeof body !== "object" || body === null || !("items" in body)) return 0;
  return Array.isArray(body.items) ? body.items.length : 0;
}

/**
 * The header that tells the length of a body to HEAD (RFC 9110, section 9.3.2), for which Hono drops the body before Bun
 * could count it. For other methods, Bun adds it.
 */
export function lengthForHead({ method }: Request, body: string | Uint8Array = ""): Record<string, string> {
  return method === "HEAD" ? { "Content-Length": String(Buffer.byteLength(body)) } : {};
}

/**
 * Responds with a stream, the last response on the connection. HEAD requests get the headers without the stream.
 * Server-sent events stay open however long there are none; other streams end if the caller stops reading and sending.
 */
async function streamTo(
  { request, call }: Exchange,
  stream: ReadableStream<Uint8Array>,
  type = "text/event-stream",
): Promise<Response> {
  const isHead = request.method === "HEAD";
  if (isHead) await discard(stream);
  else if (type === "text/event-stream") call.from.timeout(request, 0);
  return new Response(isHead ? null : stream, {
    headers: {
      ...(isHead && { "Transfer-Encoding": "chunked" }), // as with GET; without it, Bun says that nothing would come
      "Content-Type": type,
      "X-Accel-Buffering": "no",
      "X-Request-Id": call.requestId,
      ...answerHeaders,
      Connection: "close", // Bun keeps the disabled time-out for later requests on the connection, so there must be none
    },
  });
}

/** Ends a stream that nobody will read; one that has failed is ended already. */
export async function discard(stream: ReadableStream<Uint8Array> | undefined): Promise<void> {
  await stream?.cancel().catch(() => undefined);
}
