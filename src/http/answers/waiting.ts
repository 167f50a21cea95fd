import { waitHeaders, waitSecondsIn } from "../../contract/waits.ts";
import type { WaitWish } from "../../services/delivery/awaited-sends.ts";
import type { Sent } from "../../services/messages/messages.ts";
import type { LongCall } from "../bind.ts";

type Waiting<Body> = { body: Body; isReplay: boolean; headers?: Record<string, string>; waitedMs?: number };

/**
 * Sends, and waits for the delivery if the request prefers that (`Prefer: wait=N`). Meanwhile the connection may be
 * idle.
 */
export function answerWaiting<Body>(
  headers: Headers,
  call: Pick<LongCall, "request" | "mayIdle">,
  send: (wish?: WaitWish) => Promise<Sent<Body>>,
): Promise<Waiting<Body>> {
  const seconds = waitSecondsIn(headers.get("prefer"));
  if (seconds === undefined) return send();
  return call.mayIdle(seconds, async () => {
    const { body, isReplay, waited } = await send({ seconds, signal: call.request.signal });
    return {
      body,
      isReplay,
      ...(waited && { headers: waitHeaders(waited.seconds, waited.counts), waitedMs: waited.tookMs }),
    };
  });
}
