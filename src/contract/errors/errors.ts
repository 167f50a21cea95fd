import { amountOf } from "../../lib/rates/amount.ts";
import type { CloseReason } from "../connections/close-codes.ts";

/**
 * One entry of the catalogue: the HTTP status, a title that never changes, and what the caller should do about the error. An
 * error about something that the caller named has a `finding`, which says what is wrong with it; `errorAbout` fills in the ids.
 */
type ErrorEntry = { status: number; title: string; advice: string; finding?: string };

/** Every error that Herald returns, over HTTP and over a socket. The key is the `code` on the wire. */
export const errorCatalogue = {
  malformed_json: {
    status: 400,
    title: "The body is not valid JSON",
    advice: "Send a single JSON value, encoded in UTF-8 (RFC 8259).",
  },
  bad_request: {
    status: 400,
    title: "The request is malformed",
    advice: "Fix the problem that `detail` describes, then send the request again.",
  },
  unauthorized: {
    status: 401,
    title: "The credential is missing or invalid",
    advice: "Send a valid key in `Admin-Api-Key`, or a user token that has not expired.",
  },
  insufficient_scope: {
    status: 403,
    title: "The key lacks the scope for this call",
    advice: "Use a key that has the scope that `detail` names.",
  },
  organization_forbidden: {
    status: 403,
    title: "The key has no access to this organization",
    finding: "the key has no access to the organization {organization}",
    advice: "Use a key that belongs to this organization, or one that is not bound to any organization.",
  },
  sender_forbidden: {
    status: 403,
    title: "The key may not send as this user",
    finding: "the key may not send as {sender}",
    advice: "Use one of the key's allowed senders as the `senderId`.",
  },
  own_proposal: {
    status: 403,
    title: "The key may not decide its own proposals",
    finding: "your key proposed {proposal}, or was made by the key that did",
    advice: "Let a key decide that another one made.",
  },
  origin_forbidden: {
    status: 403,
    title: "Web pages from this origin may not connect",
    advice:
      "Add the origin to the server setting `HERALD_ALLOWED_ORIGINS`. For a page whose origin is `null`, because it is sandboxed or was opened from a file, serve it from a web address instead.",
  },
  sender_not_participant: {
    status: 403,
    title: "The sender is not a participant of the conversation",
    finding: "the sender {sender} is not a participant of the conversation {conversation}",
    advice: "Add the sender with `PUT …/conversations/{cid}/participants/{uid}`, then send again.",
  },
  sender_not_owner: {
    status: 403,
    title: "The message is another user's",
    finding: "the message {message} was not sent by {sender}",
    advice: "Edit only messages that the `senderId` sent; a participant may take back any message.",
  },
  not_a_participant: {
    status: 403,
    title: "The user is not a participant of the conversation",
    finding: "the user {user} is not a participant of the conversation {conversation}",
    advice: "Request only conversations that `conversation_list` returns.",
  },
  not_found: { status: 404, title: "Nothing exists at this path", advice: "Check the path against `/docs`." },
  organization_not_found: {
    status: 404,
    title: "The organization does not exist",
    finding: "the organization {organization} does not exist",
    advice: "Create it with `PUT /admin/organizations/{org}`.",
  },
  conversation_not_found: {
    status: 404,
    title: "The conversation does not exist",
    finding: "the conversation {conversation} does not exist",
    advice: "Create it with `PUT …/conversations/{cid}`.",
  },
  sender_not_found: {
    status: 404,
    title: "The sender is not a user of the organization",
    finding: "the sender {sender} is not a user of the organization {organization}",
    advice: "Create the user with `PUT …/users/{uid}`.",
  },
  user_not_found: {
    status: 404,
    title: "The user does not exist",
    finding: "the user {user} does not exist",
    advice: "Create the user with `PUT …/users/{uid}`.",
  },
  message_not_found: {
    status: 404,
    title: "The message does not exist",
    finding: "the message {message} does not exist",
    advice: "Use an `_id` that Herald returned, from the same conversation, of a message that was not taken back.",
  },
  file_not_found: {
    status: 404,
    title: "The file does not exist",
    finding: "the file {file} does not exist",
    advice: "Upload the file first, or use the `file_id` of an attachment.",
  },
  method_not_allowed: {
    status: 405,
    title: "This path does not support the method",
    advice: "Use one of the methods in the `Allow` header.",
  },
  message_id_conflict: {
    status: 409,
    title: "The id was already used with a different payload",
    finding: "the id {id} was already used with a different payload",
    advice: "To retry, send the original payload; to send something else, choose a new id.",
  },
  already_sent: {
    status: 409,
    title: "The scheduled send or the proposal no longer waits",
    advice: "`detail` says what became of it. To send something else, choose a new id.",
  },
  append_conflict: {
    status: 409,
    title: "The message does not have this length",
    advice: "Go on from `length`, which the answer has besides. A message that is complete takes no more text.",
  },
  message_open: {
    status: 409,
    title: "The message is not complete",
    advice: "Complete it with `PUT /admin/message/append` and `done`, then edit it; or take it back.",
  },
  cursor_too_old: {
    status: 410,
    title: "The log does not reach back to the cursor",
    advice: "Read what is stored with an export, then follow the feed from its newest cursor.",
  },
  payload_too_large: {
    status: 413,
    title: "The request is too large",
    advice: "Make the request smaller. `detail` states the limit.",
  },
  unsupported_media_type: {
    status: 415,
    title: "The media type or encoding of the body is not supported",
    advice: "Send `Content-Type: application/json`, without `Content-Encoding`.",
  },
  invalid_request: {
    status: 422,
    title: "The request does not match its schema",
    advice: "Correct each value that `errors` points to.",
  },
  rate_limited: {
    status: 429,
    title: "Too many requests or connections",
    advice: "Wait the number of seconds in `Retry-After`, then try again.",
  },
  not_supported: {
    status: 501,
    title: "Herald does not do this over a socket",
    advice: "Do what the message names instead.",
  },
  unavailable: {
    status: 503,
    title: "Herald cannot handle the request right now",
    advice: "The outcome is unknown. Wait the number of seconds in `Retry-After`, then retry with the same id.",
  },
  storage_full: {
    status: 507,
    title: "The storage is full",
    advice: "Free up space on the server, then retry with the same id.",
  },
  internal: {
    status: 500,
    title: "Something went wrong inside Herald",
    advice: "Retry with the same id. If the error persists, report the `request_id`.",
  },
} as const satisfies Record<string, ErrorEntry>;

/** The `code` of an error on the wire. */
export type ErrorCode = keyof typeof errorCatalogue;

type FindingOf<Code extends ErrorCode> = (typeof errorCatalogue)[Code] extends { finding: infer Text } ? Text : never;

/** The codes of errors about something that the caller named: their detail names it, too. */
export type NamingCode = { [Code in ErrorCode]: FindingOf<Code> extends never ? never : Code }[ErrorCode];

type SlotsIn<Text> = Text extends `${string}{${infer Slot}}${infer Rest}` ? Slot | SlotsIn<Rest> : never;

/** What the detail of an error with this code names, each by its id. */
export type NamesOf<Code extends NamingCode> = Record<SlotsIn<FindingOf<Code>>, string>;

/** One invalid value in a request: a JSON Pointer (RFC 6901) to it, and what is wrong with it. */
export type FieldError = { pointer: string; detail: string };

type ErrorOptions = {
  fields?: FieldError[];
  headers?: Record<string, string>;
  waitMs?: number | undefined;
  length?: number | undefined;
  closes?: CloseReason;
  cause?: unknown;
};

/** The only error that services throw. HTTP and the gateway translate it; anything else that is thrown becomes `internal`. */
export class HeraldError extends Error {
  override readonly name = "HeraldError";
  readonly code: ErrorCode;
  readonly fields: FieldError[];
  /** Headers of the HTTP response, such as `Retry-After`. */
  readonly headers: Record<string, string>;
  /** How long until the limit that refused allows more, if that is known so exactly. */
  readonly waitMs: number | undefined;
  /** How long the message is, if that is why it takes no piece at another offset. */
  readonly length: number | undefined;
  /** The reason to close a socket with, where the code does not imply one. */
  readonly closes: CloseReason | undefined;

  /** Without `detail`, the advice of the catalogue. An error about something that the caller named is made by `errorAbout`. */
  constructor(code: Exclude<ErrorCode, NamingCode>, detail?: string, options?: ErrorOptions);
  constructor(code: ErrorCode, detail: string, options?: ErrorOptions);
  constructor(code: ErrorCode, detail: string = errorCatalogue[code].advice, options: ErrorOptions = {}) {
    super(detail, { cause: options.cause });
    this.code = code;
    this.fields = options.fields ?? [];
    this.headers = options.headers ?? {};
    this.waitMs = options.waitMs;
    this.length = options.length;
    this.closes = options.closes;
  }

  /** The HTTP status for the code. */
  get status(): number {
    return errorCatalogue[this.code].status;
  }
}

/** What a caller may see of a thrown value: a `HeraldError` unchanged, anything else as `internal` without its cause. */
export function toHeraldError(thrown: unknown): HeraldError {
  return thrown instanceof HeraldError ? thrown : new HeraldError("internal", undefined, { cause: thrown });
}

type Exceeded = { detail: string; policy: string; quota: number; windowSeconds?: number };

/**
 * The error for a request that exceeds a limit. `policy` names the limit; `quota` is what it allows, per `windowSeconds` if the
 * limit is a rate. Sets the headers of draft-ietf-httpapi-ratelimit-headers and `Retry-After`.
 */
export function rateLimited(options: Exceeded & { retryAfterSeconds: number; waitMs?: number }): HeraldError {
  const { detail, policy, quota, windowSeconds, retryAfterSeconds, waitMs } = options;
  return new HeraldError("rate_limited", detail, {
    waitMs,
    headers: {
      "Retry-After": String(retryAfterSeconds),
      RateLimit: `"${policy}";r=0;t=${retryAfterSeconds}`,
      "RateLimit-Policy": `"${policy}";q=${quota}${windowSeconds === undefined ? "" : `;w=${windowSeconds}`}`,
    },
  });
}

/** Like `rateLimited`, for a rate that allows more after `waitMs`, which is said at the end of the detail. */
export function rateExceeded(options: Exceeded & { waitMs: number }): HeraldError {
  const retryAfterSeconds = retryAfterOf(options.waitMs);
  return rateLimited({
    ...options,
    detail: `${options.detail}; try again in ${retryAfterSeconds} s`,
    retryAfterSeconds,
  });
}

/**
 * The error for a request with one fault: `detail` says what is wrong at `pointer` (RFC 6901), or with all of it if that is empty.
 * `message`: what to say of the request, if that is not the same.
 */
export function invalidRequest(
  pointer: string,
  detail: string,
  message: string = pointer === "" ? detail : `${pointer}: ${detail}`,
): HeraldError {
  return new HeraldError("invalid_request", message, { fields: [{ pointer, detail }] });
}

/** The error for an API key that is missing, unknown, expired or revoked: the same for all of them. */
export function invalidKey(): HeraldError {
  return new HeraldError("unauthorized", "send a valid API key in the header `Admin-Api-Key`", {
    headers: { "WWW-Authenticate": "Admin-Api-Key" },
  });
}

/** The error for a token of the OpenID provider that is not valid, whatever is wrong with it. */
export function invalidToken(cause?: unknown): HeraldError {
  return new HeraldError(
    "unauthorized",
    "the token is invalid or has expired; get a fresh one for Herald's client id",
    {
      headers: { "WWW-Authenticate": "Bearer" },
      cause,
    },
  );
}

/** The value of `Retry-After` for a wait in milliseconds: whole seconds, at least one (RFC 9110, section 10.2.3). */
export function retryAfterOf(waitMs: number): number {
  return Math.max(1, Math.ceil(amountOf(waitMs) / 1000));
}

/** The error for a request that cannot be handled right now. `Retry-After` is the number of seconds until the next attempt. */
export function unavailable(
  options: { detail?: string; retryAfterSeconds?: number; cause?: unknown } = {},
): HeraldError {
  const { detail, retryAfterSeconds = 1, cause } = options;
  return new HeraldError("unavailable", detail, { headers: { "Retry-After": String(retryAfterSeconds) }, cause });
}
