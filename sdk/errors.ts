import type { ResponseError } from "./types.ts";

/** One mistake in a request: where (a JSON pointer) and what. */
export type FieldError = { pointer: string; detail: string };

/** What is known about a failed call of the admin API. */
export type ApiErrorFields = {
  status: number;
  code: string;
  detail: string;
  requestId?: string | undefined;
  errors?: FieldError[];
  cause?: unknown;
};

/**
 * A call of the admin API failed. `status` and `code` are those of the answer (`application/problem+json`);
 * `status` 0 with the code `unreachable` means that no answer came, so the outcome is unknown.
 */
export class HeraldApiError extends Error {
  override readonly name = "HeraldApiError";
  readonly status: number;
  readonly code: string;
  readonly detail: string;
  readonly requestId: string | undefined;
  readonly errors: FieldError[];

  constructor({ status, code, detail, requestId, errors = [], cause }: ApiErrorFields) {
    super(status === 0 ? detail : `${status} ${code}: ${detail}`, cause === undefined ? undefined : { cause });
    this.status = status;
    this.code = code;
    this.detail = detail;
    this.requestId = requestId;
    this.errors = errors;
  }
}

/** The server refused a request over the WebSocket. */
export class HeraldRequestError extends Error {
  override readonly name = "HeraldRequestError";
  readonly status: number;
  readonly code: string;

  constructor({ status, code, message }: ResponseError) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

/** There is no connection, it was lost, or no answer came in time: the outcome of the request is unknown. */
export class HeraldConnectionError extends Error {
  override readonly name = "HeraldConnectionError";
}

/** An argument that can be part of no request: an address that is none, an identifier that fits in no URL. */
export class HeraldArgumentError extends TypeError {
  override readonly name = "HeraldArgumentError";
}
