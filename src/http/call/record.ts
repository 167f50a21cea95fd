import type { AuditTarget } from "../../contract/audit.ts";
import type { ErrorCode, HeraldError } from "../../contract/errors/errors.ts";
import type { Operation } from "../../contract/operations/operation.ts";
import type { AuditedCall } from "../../services/audit.ts";
import { nobody } from "../../services/keys/permissions.ts";
import type { Dependencies, Exchange } from "./exchange.ts";

const denials = new Set<ErrorCode>([
  "unauthorized",
  "insufficient_scope",
  "organization_forbidden",
  "sender_forbidden",
  "own_proposal",
]);

/** Records the calls of an operation in the audit log. */
export type Recorder = ReturnType<typeof createRecorder>;

/** Adds what the body or the service's result names. */
export function addTarget(exchange: Exchange, target: AuditTarget): void {
  exchange.target = exchange.target === undefined ? target : { ...exchange.target, ...target };
}

/** Creates the recorder of an operation, as far as it is audited. */
export function createRecorder(
  { operationId, method, scope, audit: extent }: Operation,
  { audit }: Pick<Dependencies, "audit">,
) {
  const isAudited = extent === "all" || (extent === undefined && method !== "get" && scope !== undefined);

  function auditedCallOf({ call, caller, req, target }: Exchange, status: number, code?: ErrorCode): AuditedCall {
    const params: Record<string, string> = req.param();
    return {
      requestId: call.requestId,
      operation: operationId,
      caller: caller === nobody ? undefined : caller,
      address: call.address || undefined,
      target: {
        organization: params.org,
        user: params.uid,
        conversation: params.cid,
        key: params.id,
        session: params.session_id,
        token: params.jti,
        connection: params.connection_id,
        scheduled: params.sid,
        proposal: params.pid,
        webhook: params.wid,
        delivery: params.did,
        message: params.server_mid ?? params.mid,
        ...target,
      },
      status,
      code,
    };
  }

  return {
    /** Whether calls that succeed are recorded. */
    isAudited,
    /** The service succeeded. Resolves once that is recorded, if it has to be; rejects if it cannot be. */
    async succeed(exchange: Exchange, status: number): Promise<void> {
      exchange.hasBegun = false; // later errors are not errors of the call
      if (isAudited) await audit.record(auditedCallOf(exchange, status));
    },
    /**
     * The call ended with this error. Nothing was changed or the outcome is unknown, so the response does not wait for
     * the entry.
     */
    fail(exchange: Exchange, { status, code }: HeraldError): void {
      if (denials.has(code) || (isAudited && exchange.hasBegun)) audit.note(auditedCallOf(exchange, status, code));
    },
  };
}
