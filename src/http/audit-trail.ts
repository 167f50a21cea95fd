import type { AuditTarget } from "../contract/audit.ts";
import type { ErrorCode, HeraldError } from "../contract/errors/errors.ts";
import type { Operation } from "../contract/operations/operation.ts";
import type { Audit, AuditedCall } from "../services/audit.ts";
import type { Caller } from "../services/keys/permissions.ts";

/** Reports one call to the audit log. */
export type Trail = {
  /** The key was accepted. */
  admit(caller: Caller): void;
  /** Adds what the body or the service's result names. */
  name(target: AuditTarget): void;
  /** The call goes to its service: from here on, it may have changed something. */
  begin(): void;
  /** The service succeeded. Resolves once that is recorded; rejects if it cannot be. `undefined` if nothing is recorded. */
  succeed(status: number): Promise<void> | undefined;
  /**
   * The call ended with this error. Nothing was changed or the outcome is unknown, so the response does not wait for
   * the entry.
   */
  fail(error: HeraldError): void;
};

type Call = {
  requestId: string;
  /** Empty if unknown. */
  address: string;
  params: () => Record<string, string>;
};

const denials = new Set<ErrorCode>([
  "unauthorized",
  "insufficient_scope",
  "organization_forbidden",
  "sender_forbidden",
]);

const nothing: AuditTarget = {};

/** Creates the function that follows the calls of an operation, as far as the operation is audited. */
export function createTrails(
  { operationId, method, scope, audit: extent }: Operation,
  audit: Pick<Audit, "record" | "note">,
) {
  const isAudited = extent === "all" || (extent === undefined && method !== "get" && scope !== undefined);

  return ({ requestId, address, params }: Call): Trail => {
    let caller: Caller | undefined;
    let hasBegun = false;
    let named = nothing;

    function callOf(status: number, code?: ErrorCode): AuditedCall {
      const {
        org: organization,
        uid: user,
        cid: conversation,
        id: key,
        jti: token,
        sid: scheduled,
        wid: webhook,
        did: delivery,
        server_mid: serverMid,
        mid,
      } = params();
      return {
        requestId,
        operation: operationId,
        caller,
        address: address || undefined,
        target: {
          organization,
          user,
          conversation,
          key,
          token,
          scheduled,
          webhook,
          delivery,
          message: serverMid ?? mid,
          ...named,
        },
        status,
        code,
      };
    }

    return {
      admit(known) {
        caller = known;
      },
      name(target) {
        named = named === nothing ? target : { ...named, ...target };
      },
      begin() {
        hasBegun = true;
      },
      succeed(status) {
        hasBegun = false; // later errors are not errors of the call
        return isAudited ? audit.record(callOf(status)) : undefined;
      },
      fail({ status, code }) {
        if (denials.has(code) || (isAudited && hasBegun)) audit.note(callOf(status, code));
      },
    };
  };
}
