import { toHeraldError } from "../../contract/errors/errors.ts";
import { problemResponse } from "../../contract/errors/problem.ts";
import { toIso } from "../../contract/identifiers.ts";
import type { Operation } from "../../contract/operations/operation.ts";
import type { Caller } from "../../services/keys/permissions.ts";
import { threadCosts } from "../../services/limits/costs.ts";
import { rememberBytes } from "../answers/long-answers.ts";
import { type Answer, discard, rowsIn, toResponse, toStream } from "../answers/response.ts";
import type { Exchange, PathParts } from "./exchange.ts";

const endedWithinSeconds = 5;
const rowsPerRequest = 100; // of a response: a page of a thousand is as much work as ten requests

/** The response has ended: the bytes handed out must be taken within seconds, or the connection is cut. */
export function endSoon({ request, runtime }: Exchange): void {
  runtime.timeout(request, endedWithinSeconds);
}

/**
 * Creates the step that responds with what the handlers of an operation return, after the audit log has recorded it. Waits
 * only for that, for a stream, or for a turn of the thread. Rejects if the success cannot be recorded.
 */
export function createResponder({ scope }: Operation, { charges, takeTurn, longAnswers }: PathParts) {
  const toBytes = scope === undefined ? rememberBytes() : (text: string) => Buffer.from(text);

  function write(exchange: Exchange, answer: Answer): Response {
    const { request, requestId, call, caller, charge } = exchange;
    const response = toResponse(answer, request, requestId, (text) => {
      charges.addAnswer(charge, text);
      const answering = { org: call.org ?? caller.rights.org ?? undefined, request, endSoon: () => endSoon(exchange) };
      return request.method === "HEAD" ? text : longAnswers.bodyOf(text, toBytes, answering);
    });
    return tellExpiry(caller, response);
  }

  function respond(exchange: Exchange, answer: Answer): Response | Promise<Response> {
    const { request, requestId, runtime, caller, charge } = exchange;
    const { stream, streamType } = answer;
    if (stream !== undefined)
      return toStream({ stream, streamType }, request, requestId, runtime).then((sent) => tellExpiry(caller, sent));
    const rows = rowsIn(answer.body);
    charges.addWork(charge, Math.floor(rows / rowsPerRequest));
    const turn = rows > 0 ? takeTurn(exchange, threadCosts.rows(rows)) : undefined;
    return turn === undefined ? write(exchange, answer) : turn.then(() => write(exchange, answer));
  }

  return (exchange: Exchange, answer: Answer): Response | Promise<Response> => {
    const { call, trail } = exchange;
    call.isReplay = answer.isReplay === true;
    call.waitedMs = answer.waitedMs ?? 0;
    if (answer.target !== undefined) trail.name(answer.target);
    const recorded = answer.isRecorded === true ? undefined : trail.succeed(answer.status);
    return recorded === undefined ? respond(exchange, answer) : recorded.then(() => respond(exchange, answer));
  };
}

/**
 * Creates the step that responds to a call that failed, whose `answer` nobody will read. Errors become problem documents only
 * here; unknown errors are logged and shown as `internal`.
 */
export function createRefuser({ charges, redact, onError }: PathParts) {
  return async (exchange: Exchange, thrown: unknown, answer: Answer | undefined): Promise<Response> => {
    const { requestId, call, trail, charge, caller } = exchange;
    await discard(answer?.stream);
    const error = toHeraldError(thrown);
    if (error.status === 500) onError(thrown, requestId);
    call.code = error.code;
    trail.fail(error);
    charges.close(charge);
    return tellExpiry(caller, problemResponse(error, requestId, redact));
  };
}

/** Warns a caller who still uses an old secret of a rotated key. */
function tellExpiry({ secretExpiresAt }: Caller, response: Response): Response {
  if (secretExpiresAt !== undefined) response.headers.set("Herald-Key-Expires", toIso(secretExpiresAt));
  return response;
}
