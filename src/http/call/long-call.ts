import type { Charges } from "../../services/limits/charges.ts";
import { endSoon } from "./answer.ts";
import type { Authenticator } from "./authenticate.ts";
import type { Exchange, PathParts } from "./exchange.ts";
import { addTarget, type Recorder } from "./record.ts";

const mostIdleSeconds = 255; // that Bun knows

/** What a long-running handler may know of its call. */
export type LongCall = ReturnType<ReturnType<typeof createLongCalls>>;

/** What came of the lines of a call. `organization`: the only one that they were for, unless the path names it. */
type LineCounts = {
  organization?: string | undefined;
  lines: number;
  failed: number;
  stored?: number;
  replayed?: number;
};

/** Creates the function that lets a handler of an operation know of its call. */
export function createLongCalls(
  { charges, limits }: PathParts,
  { permitAgain }: Pick<Authenticator, "permitAgain">,
  recorder: Pick<Recorder, "succeed">,
) {
  return (exchange: Exchange) => {
    const { request, address, call, charge } = exchange;
    const { from, requestId, bodyBytes, listener } = call;
    return {
      /** The address of the caller; empty if unknown. */
      address,
      /** Where the call came in. */
      listener,
      /** The server that accepted it. */
      from,
      requestId,
      /** The declared length of its body, in bytes. */
      bodyBytes: Number.isFinite(bodyBytes) ? bodyBytes : undefined,
      /** Its signal aborts when the caller hangs up. Bun creates it when it is first read. Only an operation of lines reads the body. */
      request,
      /** The response has ended: the bytes handed out must be taken within seconds, or the connection is cut. */
      endSoon: () => endSoon(exchange),
      /** Does work during which nothing is sent for so many seconds. Resolves or rejects with it. */
      async mayIdle<Result>(seconds: number, work: () => Promise<Result>): Promise<Result> {
        from.timeout(request, Math.min(limits.idleSeconds + seconds, mostIdleSeconds));
        try {
          return await work();
        } finally {
          from.timeout(request, limits.idleSeconds); // which would hold for later requests on the connection, too
        }
      },
      /** Charges more work to the call, in requests. Resolves once its limits allow more. */
      pay: (cost: number, options?: Parameters<Charges["pay"]>[2]) => charges.pay(charge, cost, options),
      /** Records the success of the call in the audit log, with what came of its lines. */
      async record({ organization, ...counts }: LineCounts): Promise<void> {
        const texts = Object.entries(counts).map(([name, count]) => [name, String(count)]);
        addTarget(exchange, { ...(organization !== undefined && { organization }), ...Object.fromEntries(texts) });
        await recorder.succeed(exchange, 200);
      },
      /** Checks again whether the key is valid and still permits this; rejects with the error that a new call would get. */
      permit: () => permitAgain(exchange),
    };
  };
}
