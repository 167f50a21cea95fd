import { createId } from "../../lib/text/ids.ts";

const callerRequestId = /^[\x21-\x7e]{1,128}$/;

/**
 * The id of a request: the caller's `X-Request-Id` if it is visible ASCII of at most 128 characters, otherwise a new
 * one.
 */
export function requestIdOf(request: Request): string {
  const given = request.headers.get("x-request-id");
  return given !== null && callerRequestId.test(given) ? given : createId();
}
