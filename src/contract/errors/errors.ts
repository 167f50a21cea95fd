import type { CloseReason } from "../connections/close-codes.ts";

/** One entry of the catalogue: the HTTP status, a title that never changes, and what a caller does about it. */
type ErrorEntry = { status: number; title: string; advice: string };

/** Every error that Herald answers with, over HTTP and over a socket. The key is the `code` on the wire. */
export const errorCatalogue = {
  malformed_json: { status: 400, title: "The body is not JSON", advice: "Send one JSON text in UTF-8 (RFC 8259)." },
  bad_request: {
    status: 400,
    title: "The request cannot be understood",
    advice: "Read `detail`: it names what is wrong.",
  },
  unauthorized: {
    status: 401,
    title: "The credential is missing or not valid",
    advice: "Send a valid key in `Admin-Api-Key`, or a user token that has not expired.",
  },
  insufficient_scope: {
    status: 403,
    title: "The key lacks the scope for this call",
    advice: "Use a key that has the scope named in `detail`.",
  },
  organization_forbidden: {
    status: 403,
    title: "The key is not for this organization",
    advice: "Use a key of that organization.",
  },
  sender_forbidden: {
    status: 403,
    title: "The key may not send as this user",
    advice: "Use a `senderId` that the key allows.",
  },
  origin_forbidden: {
    status: 403,
    title: "Pages of this origin may not connect",
    advice: "Add the origin to `HERALD_ALLOWED_ORIGINS`.",
  },
  sender_not_participant: {
    status: 403,
    title: "The sender is not a participant of the conversation",
    advice: "Add the sender with `PUT …/conversations/{cid}/participants/{uid}` first.",
  },
  not_a_participant: {
    status: 403,
    title: "The user is not a participant of the conversation",
    advice: "Ask only for conversations that `conversation_list` shows.",
  },
  not_found: { status: 404, title: "There is nothing at this address", advice: "Compare the path with `/docs`." },
  organization_not_found: {
    status: 404,
    title: "There is no such organization",
    advice: "Create it with `PUT /admin/organizations/{org}`.",
  },
  conversation_not_found: {
    status: 404,
    title: "There is no such conversation",
    advice: "Create it with `PUT …/conversations/{cid}`.",
  },
  sender_not_found: {
    status: 404,
    title: "The sender is not a user of the organization",
    advice: "Create the user with `PUT …/users/{uid}`.",
  },
  user_not_found: { status: 404, title: "There is no such user", advice: "Create the user with `PUT …/users/{uid}`." },
  message_not_found: {
    status: 404,
    title: "There is no such message",
    advice: "Use an `_id` that Herald gave, from the same conversation.",
  },
  file_not_found: {
    status: 404,
    title: "There is no such file",
    advice: "Upload it first, or use the `file_id` of an attachment.",
  },
  method_not_allowed: {
    status: 405,
    title: "This address takes another method",
    advice: "Use a method that the `Allow` header lists.",
  },
  message_id_conflict: {
    status: 409,
    title: "The id was already used for another payload",
    advice: "Retry with the payload that was sent first, or choose a new id.",
  },
  payload_too_large: {
    status: 413,
    title: "The request is too large",
    advice: "Send fewer bytes; `detail` names the limit.",
  },
  unsupported_media_type: {
    status: 415,
    title: "The body must be JSON",
    advice: "Send `Content-Type: application/json`.",
  },
  invalid_request: {
    status: 422,
    title: "The request does not fit its schema",
    advice: "Mend each place that `errors` points at.",
  },
  rate_limited: {
    status: 429,
    title: "Too many requests or connections",
    advice: "Wait for `Retry-After` seconds, then try again.",
  },
  unavailable: {
    status: 503,
    title: "Herald cannot do this now",
    advice: "Retry with the same id after `Retry-After` seconds: the outcome is unknown.",
  },
  storage_full: {
    status: 507,
    title: "The storage is full",
    advice: "Free space on the server, then retry with the same id.",
  },
  internal: {
    status: 500,
    title: "Something went wrong inside Herald",
    advice: "Retry with the same id; if it stays, report the `request_id`.",
  },
} as const satisfies Record<string, ErrorEntry>;

/** The `code` of an error on the wire. */
export type ErrorCode = keyof typeof errorCatalogue;

/** One place in a request that does not fit: a JSON Pointer (RFC 6901) and what is wrong there. */
export type FieldError = { pointer: string; detail: string };

/** The one error that services throw. HTTP and gateway translate it; anything else thrown is shown as `internal`. */
export class HeraldError extends Error {
  override readonly name = "HeraldError";
  readonly code: ErrorCode;
  readonly fields: FieldError[];
  /** Headers for the HTTP answer, such as `Retry-After`. */
  readonly headers: Record<string, string>;
  /** Why it closes a socket that it refuses, where its code does not say so. */
  readonly closes: CloseReason | undefined;

  constructor(
    code: ErrorCode,
    detail: string = errorCatalogue[code].advice,
    options: { fields?: FieldError[]; headers?: Record<string, string>; closes?: CloseReason; cause?: unknown } = {},
  ) {
    super(detail, { cause: options.cause });
    this.code = code;
    this.fields = options.fields ?? [];
    this.headers = options.headers ?? {};
    this.closes = options.closes;
  }

  /** The HTTP status that goes with the code. */
  get status(): number {
    return errorCatalogue[this.code].status;
  }
}

/** What a caller may see of anything thrown: a `HeraldError` as it is, everything else as `internal` without its cause. */
export function toHeraldError(thrown: unknown): HeraldError {
  return thrown instanceof HeraldError ? thrown : new HeraldError("internal", undefined, { cause: thrown });
}

/**
 * The error for more than a limit allows. `policy` names the limit and `quota` is what it allows, in `windowSeconds` if it is a
 * rate. The headers are those of draft-ietf-httpapi-ratelimit-headers, and `Retry-After`.
 */
export function rateLimited(options: {
  detail: string;
  policy: string;
  quota: number;
  windowSeconds?: number;
  retryAfterSeconds: number;
}): HeraldError {
  const { detail, policy, quota, windowSeconds, retryAfterSeconds } = options;
  return new HeraldError("rate_limited", detail, {
    headers: {
      "Retry-After": String(retryAfterSeconds),
      RateLimit: `"${policy}";r=0;t=${retryAfterSeconds}`,
      "RateLimit-Policy": `"${policy}";q=${quota}${windowSeconds === undefined ? "" : `;w=${windowSeconds}`}`,
    },
  });
}

/** What `Retry-After` says of a wait in milliseconds: whole seconds, and one at least (RFC 9110, section 10.2.3). */
export function retryAfterOf(waitMs: number): number {
  return Math.max(1, Math.ceil(waitMs / 1000));
}

/** The error for what cannot be done now; `Retry-After` says after how many seconds to try again. */
export function unavailable(
  options: { detail?: string; retryAfterSeconds?: number; cause?: unknown } = {},
): HeraldError {
  const { detail, retryAfterSeconds = 1, cause } = options;
  return new HeraldError("unavailable", detail, { headers: { "Retry-After": String(retryAfterSeconds) }, cause });
}
