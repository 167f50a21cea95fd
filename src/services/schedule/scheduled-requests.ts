import { errorCatalogue, HeraldError, invalidRequest } from "../../contract/errors/errors.ts";
import type { PayloadLimits } from "../../contract/limits.ts";
import { validate } from "../../contract/requests.ts";
import { createScheduledRequest, type ScheduledRequest } from "../../contract/schedule.ts";
import type { NewSend } from "../../store/ports.ts";
import type { Failure } from "../../store/schedule/ports.ts";
import { type Caller, permitOrganization, permitScope, permitSender } from "../keys/permissions.ts";
import { refusalOf, toMessageSend, toSystemSend } from "../messages/messages.ts";

/** A send, and the id that its recipients know it by unless it is a retry. */
export type PreparedSend = { send: NewSend; serverMid: string };

const passing = new Set(["unavailable", "storage_full", "internal", "rate_limited"]);

/** Throws unless the request names the organization of the path, and the key may act there. */
export function requireOwn(caller: Caller, org: string, { organizationId }: ScheduledRequest): void {
  permitOrganization(caller, organizationId);
  if (organizationId !== org) throw invalidRequest("/request/organizationId", "must be the organization of the path");
}

/** Throws unless the key may send the request. */
export function permitRequest(caller: Caller, request: ScheduledRequest): void {
  permitScope(caller, "messageSystem" in request ? "system:send" : "message:send");
  permitSender(caller, request.senderId);
}

/** The send for a request, as if the caller sent it at `createdAt`. Throws if the caller's key does not allow it. */
export async function prepareSend(caller: Caller, request: ScheduledRequest, createdAt: number): Promise<PreparedSend> {
  permitRequest(caller, request);
  return await toSend(caller, request, createdAt);
}

/** Like `prepareSend` for a caller who need not have the scope to send. */
export async function toSend(caller: Caller, request: ScheduledRequest, createdAt: number): Promise<PreparedSend> {
  if ("messageSystem" in request) {
    const send = await toSystemSend(caller, request, createdAt);
    return { send, serverMid: send.mid };
  }
  const send = toMessageSend(caller, request, createdAt);
  return { send, serverMid: send.id };
}

/** Creates the function that reads a stored request. Throws `invalid_request` if it exceeds the limits of today. */
export function createRequestReader(limits: PayloadLimits): (stored: string) => ScheduledRequest {
  const schema = createScheduledRequest(limits);
  return (stored) => validate(schema, JSON.parse(stored));
}

/**
 * Why a stored request cannot be sent. Throws what may pass: that the organization's rate is used up, the disk full or the database
 * away. An error that nobody expects is reported, as the row is not what Herald wrote.
 */
export function failureOfRequest(error: unknown, onError: (error: unknown) => void): Failure {
  if (!(error instanceof HeraldError)) {
    onError(error);
    return failureOf(new HeraldError("internal"));
  }
  if (passing.has(error.code)) throw error;
  return failureOf(error);
}

/** Why a scheduled send failed, to be stored. */
function failureOf({ code, message, fields }: HeraldError): Failure {
  return { outcome: "error", code, detail: message, fields };
}

/** The error that a stored failure stands for. */
export function errorOfFailure(failure: Failure): HeraldError {
  if (failure.outcome === "error") {
    const { code, detail, fields } = failure;
    return new HeraldError(code, detail === "" ? errorCatalogue[code].advice : detail, { fields });
  }
  const { of } = failure;
  if (of !== undefined) return refusalOf(failure, of);
  const { code } = refusalOf(failure, { org: "", sender: "" });
  return new HeraldError(code, errorCatalogue[code].advice); // stored by a version that did not keep what it was about
}
