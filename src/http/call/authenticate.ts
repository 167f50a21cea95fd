import type { Operation } from "../../contract/operations/operation.ts";
import { type Caller, permitOrganization, permitScope } from "../../services/keys/permissions.ts";
import { isTooLongToDrop } from "../requests/body.ts";
import type { Exchange, PathParts } from "./exchange.ts";

/** The steps that find out who calls an operation, and whether the key permits it. */
export type Authenticator = ReturnType<typeof createAuthenticator>;

/** Creates the steps that find out who calls an operation, and whether the key permits it. */
export function createAuthenticator({ scope, limitsItself = false }: Operation, { authentication }: PathParts) {
  const callerOf = ({ request, call, address }: Exchange) =>
    authentication.authenticate(request.headers.get("admin-api-key"), address, isTooLongToDrop(call.bodyBytes));

  function accept(exchange: Exchange, caller: Caller): undefined {
    exchange.caller = caller;
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
    /** Identifies the caller again, and rejects unless the key still permits the operation. */
    async permitAgain(exchange: Exchange): Promise<void> {
      if (scope !== undefined) permit(exchange, await callerOf(exchange));
    },
  };
}
