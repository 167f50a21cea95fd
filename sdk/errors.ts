import type { ApiErrorCode, ErrorCode } from "./error-codes.ts";
import type { ResponseError } from "./types.ts";

/** An invalid value in a request: a JSON Pointer to it, and what is wrong with it. */
export type FieldError = {
  /** A JSON Pointer to the value (RFC 6901). */
  pointer: string;
  /** What is wrong with it. */
  detail: string;
};

/** What an error of the admin API is made of. */
export type ApiErrorFields = {
  /** The HTTP status. */
  status: number;

  /** What went wrong, for programs. */
  code: ApiErrorCode;
  /** What the code means, in words that never change; a failure without a response has none. */
  title?: string | undefined;

  /** What went wrong, for people. */
  detail: string;
  /** What to do, if it is known. */
  advice?: string | undefined;
  requestId?: string | undefined;
  errors?: FieldError[];
  length?: number | undefined;
  cause?: unknown;
};

/** What to do about errors of which no server can say it. */
const advices: { [code: string]: string } = {
  unreachable:
    "Check the address, and that the server runs. A call with an id can be made again, as it takes effect once.",
  not_herald:
    "Check the address, and what answers there. Redirects are not followed, so that the key reaches nobody else.",
};

/**
 * A call to the admin API failed. `status` and `code` come from the response (`application/problem+json`). A `status` of 0 with the
 * code `unreachable` means that there was no response, so the outcome is unknown.
 */
export class HeraldApiError extends Error {
  /** The name of the class. */
  override readonly name = "HeraldApiError";
  /** The HTTP status, or 0 if there was no response. */
  readonly status: number;
  /** What went wrong, for programs. */
  readonly code: ApiErrorCode;
  /** What the code means, always in the same words; `undefined` if the server did not say it. */
  readonly title: string | undefined;
  /** What went wrong in this call, for people. */
  readonly detail: string;
  /** The server's name for the call, which its log has, too. */
  readonly requestId: string | undefined;
  /** Each invalid value, after 422 `invalid_request`. */
  readonly errors: FieldError[];
  /** How long the message is, in Unicode code points, after 409 `append_conflict`. */
  readonly length: number | undefined;

  /** The SDK creates these errors; an app only does so in its tests. */
  constructor(fields: ApiErrorFields) {
    const { status, code, title, detail, advice = advices[code], requestId, errors = [], length, cause } = fields;
    const said = title === undefined || detail.startsWith(title) ? detail : `${title}: ${detail}`;
    const what = status === 0 ? detail : `${status} ${code}: ${said}`;
    super(advice === undefined ? what : `${what}. ${advice}`, cause === undefined ? undefined : { cause });
    this.status = status;
    this.code = code;
    this.title = title;
    this.detail = detail;
    this.requestId = requestId;
    this.errors = errors;
    this.length = length;
  }
}

/** The server refused a request sent over the WebSocket. */
export class HeraldRequestError extends Error {
  /** The name of the class. */
  override readonly name = "HeraldRequestError";
  /** The status that the same error has over HTTP. */
  readonly status: number;
  /** What went wrong, for programs. */
  readonly code: ErrorCode;

  /** The SDK creates these errors; an app only does so in its tests. */
  constructor({ status, code, message }: ResponseError) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

/** There is no connection, it was lost, or there was no response in time. The outcome of the request is unknown. */
export class HeraldConnectionError extends Error {
  /** The name of the class. */
  override readonly name = "HeraldConnectionError";
}

/** An argument is unusable: an invalid server address, or an identifier that cannot be part of a URL. */
export class HeraldArgumentError extends TypeError {
  /** The name of the class. */
  override readonly name = "HeraldArgumentError";
}
