import type { HonoRequest } from "hono";
import { unavailable } from "../contract/errors/errors.ts";
import type { Operation } from "../contract/operations/operation.ts";
import type { ThreadScheduler } from "../lib/event-loop/thread-scheduler.ts";
import { createQueue } from "../lib/queues/queue.ts";
import { nobody } from "../services/keys/permissions.ts";
import { createCharges, type Payers } from "../services/limits/charges.ts";
import { type Answer, createRefuser, createResponder, tellExpiry } from "./call/answer.ts";
import { createAuthenticator } from "./call/authenticate.ts";
import type { Dependencies, Exchange, PathParts, Router, TakeTurn } from "./call/exchange.ts";
import { createLongCalls, type LongCall } from "./call/long-call.ts";
import { createInputReader, type Input } from "./call/read.ts";
import { createRecorder } from "./call/record.ts";
import { type Call, routerPath, turnNameOf } from "./calls.ts";
import { organizationIn } from "./requests/body.ts";

/** Does the work of an operation: calls its service, and returns what to answer. */
type Handler<Of extends Operation> = (input: Input<Of>, call: () => LongCall) => Promise<Answer>;

/** Binds an operation of the contract to its handler. */
export type Bind = <Of extends Operation>(operation: Of, handler: Handler<Of>) => void;

type BindParts = Dependencies & Payers & { app: Router; thread: ThreadScheduler };

/**
 * Creates the single path that every operation takes: authenticate, charge, read, run, answer. A step returns a promise only
 * if there is something to wait for, and only then it is awaited: a promise for each step would cost every call.
 */
export function createBind({ app, rateLimit, use, thread, ...dependencies }: BindParts): Bind {
  const charges = createCharges({ rateLimit, use });
  const longBodies = createQueue(() => unavailable({ detail: "this node is shutting down; retry with the same id" }));
  const parts = { ...dependencies, charges, takeTurn: createTakeTurn(thread, dependencies), longBodies };

  return (operation, handler) => {
    const recorder = createRecorder(operation, parts);
    const authenticator = createAuthenticator(operation, parts);
    const { identify, permit, bind } = authenticator;
    const { targetOf } = operation;
    const begin = createExchanges(operation, parts);
    const read = createInputReader(operation, parts);
    const longCallOf = createLongCalls(parts, authenticator, recorder);
    const respond = createResponder(parts, recorder);
    const refuse = createRefuser(parts, recorder);

    app.on(operation.method, routerPath(operation), async (context) => {
      const exchange = begin(context);
      let answer: Answer | undefined;
      let response: Response;
      try {
        if (operation.scope !== undefined) {
          const identified = identify(exchange);
          if (identified !== undefined) await identified;
          const { caller, charge, org } = exchange;
          const keyCharged = charges.admit(charge, caller);
          if (keyCharged !== undefined) await keyCharged;
          permit(exchange, caller);
          const organizationCharged = org === undefined ? undefined : charges.admitOrganization(charge, org);
          if (organizationCharged !== undefined) await organizationCharged;
        }
        const reading = read(exchange);
        const input = reading instanceof Promise ? await reading : reading;
        exchange.target = targetOf?.(input.body);
        const named = exchange.target?.organization ?? exchange.org;
        input.caller = bind(exchange, named);
        const namedCharged = charges.admitOrganization(exchange.charge, named);
        if (namedCharged !== undefined) await namedCharged;
        exchange.call.org = named;
        exchange.hasBegun = true;
        answer = await handler(input, () => longCallOf(exchange));
        const responding = respond(exchange, answer);
        response = responding instanceof Promise ? await responding : responding;
      } catch (thrown) {
        response = await refuse(exchange, thrown, answer);
      }
      return tellExpiry(exchange, response);
    });
  };
}

/** Creates the function that begins the exchanges of an operation. */
function createExchanges({ method, path }: Operation, { clientAddress, charges }: PathParts) {
  const route = { method: method.toUpperCase(), path };
  const namesOrganization = path.includes("{org}");

  return ({ req, env: call }: { req: HonoRequest; env: Call }): Exchange => {
    const request = req.raw;
    const address = clientAddress(request, call.from); // now, as it is unknown once the caller has hung up
    call.route = route;
    call.address = address;
    return {
      request,
      req,
      call,
      address,
      org: namesOrganization ? req.param("org") : undefined,
      charge: charges.open(),
      caller: nobody,
      target: undefined,
      hasBegun: false,
    };
  };
}

/** Creates the turns of exchanges: organizations take turns, and keys within their organization; without a key, addresses. */
function createTakeTurn(thread: ThreadScheduler, { clientAddress }: Pick<Dependencies, "clientAddress">): TakeTurn {
  return ({ caller, org, request, call }, cost, bytes) => {
    const nameOf = () =>
      caller === nobody
        ? turnNameOf(request, call, clientAddress)
        : (caller.rights.org ?? org ?? (bytes && organizationIn(bytes)) ?? caller.keyId);
    return thread.turn(nameOf, cost, { part: caller.keyId });
  };
}
