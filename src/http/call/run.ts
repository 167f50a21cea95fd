import type { z } from "zod";
import type { Operation } from "../../contract/operations/operation.ts";
import { endSoon } from "./answer.ts";
import type { Exchange, PathParts } from "./exchange.ts";
import type { Answer, Handler, Input, LongCall } from "./handler.ts";

const mostIdleSeconds = 255; // that Bun knows

/**
 * Creates the step that hands the input of an operation to its handler, once the organization that the body names is charged.
 * From then on, the call may have changed something.
 */
export function createRun<Params extends z.ZodType, Query extends z.ZodType, Body extends z.ZodType | undefined>(
  { targetOf }: Operation<Params, Query, Body>,
  handler: Handler<Params, Query, Body>,
  { charges, limits }: PathParts,
  permitAgain: (exchange: Exchange) => Promise<void>,
) {
  function longCallOf(exchange: Exchange): LongCall {
    const { request, runtime, call, requestId, address, trail, charge } = exchange;
    return {
      address,
      listener: call.listener,
      requestId,
      request,
      endSoon: () => endSoon(exchange),
      async mayIdle(seconds, work) {
        runtime.timeout(request, Math.min(limits.idleSeconds + seconds, mostIdleSeconds));
        try {
          return await work();
        } finally {
          runtime.timeout(request, limits.idleSeconds); // which would hold for later requests on the connection, too
        }
      },
      pay: (cost, options) => charges.pay(charge, cost, options),
      async record(done) {
        trail.name(done);
        await trail.succeed(200);
      },
      permit: () => permitAgain(exchange),
    };
  }

  return (exchange: Exchange, input: Input<Params, Query, Body>): Promise<Answer> => {
    const target = targetOf?.(input.body);
    const begin = () => {
      if (target !== undefined) exchange.trail.name(target);
      exchange.call.org = target?.organization ?? exchange.org;
      exchange.trail.begin();
      return handler(input, longCallOf(exchange));
    };
    const charged = charges.admitOrganization(exchange.charge, target?.organization ?? exchange.org);
    return charged === undefined ? begin() : charged.then(begin);
  };
}
