import { errorCatalogue, HeraldError } from "../../contract/errors/errors.ts";
import type { PayloadLimits } from "../../contract/limits.ts";
import { validate } from "../../contract/requests.ts";
import { createScheduledRequest, type ScheduledRequest } from "../../contract/schedule.ts";
import type { NewSend } from "../../store/ports.ts";
import type { Failure } from "../../store/schedule/ports.ts";
import { type Caller, permitScope, permitSender } from "../keys/permissions.ts";
import { refusalOf, toMessageSend, toSystemSend } from "../messages/messages.ts";

/** A send, and the id that its recipients know it by unless it is a retry. */
export type PreparedSend = { send: NewSend; serverMid: string };

/** Throws unless the key may send the request. */
export function permitRequest(caller: Caller, request: ScheduledRequest): void {
  permitScope(caller, "messageSystem" in request ? "system:send" : "message:send");
  permitSender(caller, request.senderId);
}

/** The send for a request, as if the caller sent it at `createdAt`. Throws if the caller's key does not allow it. */
export async function prepareSend(caller: Caller, request: ScheduledRequest, createdAt: number): Promise<PreparedSend> {
  permitRequest(caller, request);
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

/** Why a scheduled send failed, to be stored. */
export function failureOf({ code, message, fields }: HeraldError): Failure {
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
