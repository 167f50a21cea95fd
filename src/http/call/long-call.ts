import { endSoon } from "./answer.ts";
import type { Authenticator } from "./authenticate.ts";
import type { Exchange, PathParts } from "./exchange.ts";
import type { LongCall } from "./handler.ts";
import { addTarget, type Recorder } from "./record.ts";

const mostIdleSeconds = 255; // that Bun knows

/** Creates the function that lets a handler of an operation know of its call. */
export function createLongCalls(
  { charges, limits }: PathParts,
  { permitAgain }: Pick<Authenticator, "permitAgain">,
  recorder: Pick<Recorder, "succeed">,
) {
  return (exchange: Exchange): LongCall => {
    const { request, call, charge } = exchange;
    const { from, requestId, bodyBytes, listener } = call;
    return {
      address: exchange.address,
      listener,
      requestId,
      bodyBytes: Number.isFinite(bodyBytes) ? bodyBytes : undefined,
      request,
      endSoon: () => endSoon(exchange),
      async mayIdle(seconds, work) {
        from.timeout(request, Math.min(limits.idleSeconds + seconds, mostIdleSeconds));
        try {
          return await work();
        } finally {
          from.timeout(request, limits.idleSeconds); // which would hold for later requests on the connection, too
        }
      },
      pay: (cost, options) => charges.pay(charge, cost, options),
      async record({ organization, ...counts }) {
        const texts = Object.entries(counts).map(([name, count]) => [name, String(count)]);
        addTarget(exchange, { ...(organization !== undefined && { organization }), ...Object.fromEntries(texts) });
        await recorder.succeed(exchange, 200);
      },
      permit: () => permitAgain(exchange),
    };
  };
}
