import type { ResponseError } from "./types.ts";

/** An invalid value in a request: a JSON Pointer to it, and what is wrong with it. */
export type FieldError = { pointer: string; detail: string };

/** The properties of a failed call to the admin API. */
export type ApiErrorFields = {
  status: number;
  code: string;
  detail: string;
  requestId?: string | undefined;
  errors?: FieldError[];
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
  override readonly name = "HeraldApiError";
  readonly status: number;
  readonly code: string;
  readonly detail: string;
  readonly requestId: string | undefined;
  readonly errors: FieldError[];

  constructor({ status, code, detail, requestId, errors = [], cause }: ApiErrorFields) {
    const what = status === 0 ? detail : `${status} ${code}: ${detail}`;
    const advice = advices[code];
    super(advice === undefined ? what : `${what}. ${advice}`, cause === undefined ? undefined : { cause });
    this.status = status;
    this.code = code;
    this.detail = detail;
    this.requestId = requestId;
    this.errors = errors;
  }
}

/** The server refused a request sent over the WebSocket. */
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

/** There is no connection, it was lost, or there was no response in time. The outcome of the request is unknown. */
export class HeraldConnectionError extends Error {
  override readonly name = "HeraldConnectionError";
}

/** An argument is unusable: an invalid server address, or an identifier that cannot be part of a URL. */
export class HeraldArgumentError extends TypeError {
  override readonly name = "HeraldArgumentError";
}
