import { z } from "zod";
import { exampleIds, messageExample, proposalExample, requestIdExample } from "../documents/examples.ts";
import type { Operation } from "../operations/operation.ts";
import { validate } from "../requests.ts";
import { type ErrorCode, errorCatalogue, HeraldError, invalidKey, rateExceeded, unavailable } from "./errors.ts";
import { errorAbout, isNaming } from "./naming.ts";
import { type Problem, problemDocument } from "./problem.ts";

/** The headers of an error, by its status, in addition to `X-Request-Id`. */
export const errorHeaders: Record<number, string[]> = {
  415: ["Accept-Encoding"],
  429: ["Retry-After", "RateLimit", "RateLimit-Policy"],
  503: ["Retry-After"],
};

/** An example `detail` for codes whose advice refers to it, or that have one of their own. */
const exampleDetails: Partial<Record<ErrorCode, string>> = {
  malformed_json: "the body is not valid UTF-8",
  bad_request: "the path is not valid percent-encoded UTF-8 (RFC 3986, section 2.5)",
  insufficient_scope: "this call requires a key with the scope `message:send`",
  payload_too_large: "the request body exceeds the limit of 1048576 bytes; send a smaller one",
  not_supported: "message_edit is not supported: your backend edits with `PUT /admin/message`",
  already_sent: "the scheduled send `order-4711` no longer waits: it was sent; choose a new id",
  cursor_too_old:
    "the cursor is older than the 7 days for which events are kept; read what is stored with an export, then follow the feed from its newest cursor",
};

/** Examples of errors that have more than a detail. */
const exampleErrors: Partial<Record<ErrorCode, () => HeraldError>> = {
  unauthorized: invalidKey,
  method_not_allowed: () => new HeraldError("method_not_allowed", undefined, { headers: { Allow: "GET, HEAD, PUT" } }),
  append_conflict: () =>
    new HeraldError(
      "append_conflict",
      "the message has 128 characters, or is complete; go on from there, unless it is complete",
      { length: 128 },
    ),
  rate_limited: () =>
    rateExceeded({
      detail: "this organization may send 5000 requests per second",
      policy: "organization-requests",
      quota: 5000,
      windowSeconds: 1,
      waitMs: 1000,
    }),
  unavailable: () => unavailable({ detail: "the database does not respond; retry with the same id" }),
};

const exampleNames = {
  ...exampleIds,
  sender: exampleIds.user,
  message: messageExample._id,
  proposal: proposalExample.id,
  id: "order-4711",
};

/** An example of an error with this code. */
export function exampleError(code: ErrorCode): HeraldError {
  if (isNaming(code)) return errorAbout(code, exampleNames);
  return exampleErrors[code]?.() ?? new HeraldError(code, exampleDetails[code] ?? errorCatalogue[code].advice);
}

/** Every error that an operation can return, by status: those it declares and those that its shape implies. */
export function errorCodesOf(operation: Operation): ErrorCode[] {
  const codes = new Set<ErrorCode>(["bad_request", ...operation.errors]);
  const imply = (when: boolean, ...implied: ErrorCode[]) => {
    if (when) for (const code of implied) codes.add(code);
  };
  const takesBody = operation.body !== undefined;
  const { scope, limitsItself } = operation;
  imply(scope !== undefined, "unauthorized", "rate_limited", "internal", "unavailable");
  imply(scope !== undefined && scope !== "any", "insufficient_scope");
  imply(scope !== undefined && limitsItself !== true, "organization_forbidden");
  imply(takesBody || hasMembers(operation.params) || hasMembers(operation.query), "invalid_request");
  imply(takesBody, "malformed_json", "payload_too_large");
  imply(takesBody || operation.lines !== undefined || operation.takesBytes === true, "unsupported_media_type");
  const inCatalogue = Object.keys(errorCatalogue);
  return [...codes].sort(
    (left, right) =>
      errorCatalogue[left].status - errorCatalogue[right].status ||
      inCatalogue.indexOf(left) - inCatalogue.indexOf(right),
  );
}

/** An example of an operation's error. For `invalid_request`, the operation's own schemas refuse an invalid value. */
export function problemExample(code: ErrorCode, operation: Operation): Problem {
  const error = code === "invalid_request" ? refusal(operation) : undefined;
  return problemDocument(error ?? exampleError(code), requestIdExample);
}

/** Puts an invalid value into the first member of the body or, failing that, of the query or the path. */
function refusal({ body, bodyExample, query, params }: Operation): HeraldError | undefined {
  const fitPath = Object.fromEntries(memberNames(params).map((name) => [name, "a"]));
  for (const [schema, fit, unfit] of [
    [body, Object(bodyExample), ""],
    [query, {}, "0"],
    [params, fitPath, "\u0007"],
  ] as const) {
    const name = memberNames(schema)[0];
    if (schema === undefined || name === undefined) continue;
    try {
      validate(schema, { ...fit, [name]: unfit });
    } catch (error) {
      if (error instanceof HeraldError) return error;
      throw error;
    }
  }
  return undefined;
}

function hasMembers(schema: z.ZodType): boolean {
  return memberNames(schema).length > 0;
}

function memberNames(schema: z.ZodType | undefined): string[] {
  return schema instanceof z.ZodObject ? Object.keys(schema.shape) : [];
}
