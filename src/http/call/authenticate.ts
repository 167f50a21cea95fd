import type { Operation } from "../../contract/operations/operation.ts";
import { boundTo, type Caller, permitOrganization, permitScope } from "../../services/keys/permissions.ts";
import { createCallerReader } from "./callers.ts";
import type { Exchange, PathParts } from "./exchange.ts";

/** The steps that find out who calls an operation, and whether the key permits it. */
export type Authenticator = ReturnType<typeof createAuthenticator>;

/** Creates the steps that find out who calls an operation, and whether the key permits it. */
export function createAuthenticator({ scope, limitsItself = false, takesBearer = false }: Operation, parts: PathParts) {
  const identifyCaller = createCallerReader(parts);
  const callerOf = ({ request, call, address }: Exchange) => identifyCaller({ request, call, address, takesBearer });

  function accept(exchange: Exchange, caller: Caller): undefined {
    exchange.caller = caller.within === undefined ? caller : boundTo(caller, organizationNamedBy(exchange));
    exchange.call.keyId = caller.keyId;
  }

  /** Throws unless the key of the caller permits the operation. */
  function permit({ org }: Exchange, caller: Caller): void {
    if (scope !== undefined && scope !== "any") permitScope(caller, scope);
    if (!limitsItself) permitOrganization(caller, org);
  }

  return {
    /** Waits only if this node does not know the key. Throws and rejects like `authenticate`. */
    identify(exchange: Exchange): Promise<void> | undefined {
      const caller = callerOf(exchange);
      return caller instanceof Promise ? caller.then((known) => accept(exchange, known)) : accept(exchange, caller);
    },
    permit,
    /**
     * Gives a caller whose rights differ between organizations those that it has in the one that its body names. Throws unless
     * they permit the operation.
     */
    bind(exchange: Exchange, org: string | undefined): Caller {
      const caller = boundTo(exchange.caller, org);
      if (caller !== exchange.caller) permit(exchange, caller);
      exchange.caller = caller;
      return caller;
    },
    /** Identifies the caller again, and rejects unless the key still permits the operation. */
    async permitAgain(exchange: Exchange): Promise<void> {
      if (scope === undefined) return;
      const caller = await callerOf(exchange);
      permit(exchange, boundTo(caller, organizationNamedBy(exchange) ?? exchange.target?.organization));
    },
  };
}

/** The organization in the path or, for a list of one, in the query. */
function organizationNamedBy({ org, req }: Exchange): string | undefined {
  return org ?? req.query("organization");
}
