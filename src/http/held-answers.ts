import { networkOf } from "../lib/addresses.ts";
import type { ClientAddress } from "../lib/client-address.ts";
import type { Clock } from "../lib/clock.ts";
import { createDrip } from "../lib/drip.ts";
import { nextTurn } from "../lib/next-turn.ts";
import type { Call } from "./calls.ts";

// 2,000 a second of them, which take a tenth of a core.
const pace = { atOnce: 8, everyMs: 4 };
// Bun 1.4.5 reads so much of a body for which nobody asks while the answer is pending, and then no more (measured).
const mostRead = 1_200_000;
const mostReadOfAll = 64 * 1024 * 1024;

/** Answers that wait before they go out. */
export type HeldAnswers = {
  /** Resolves when an answer that is cheap to ask for may go out: in the next turn of the event loop or later. */
  hold(request: Request, call: Call, response: Response): Promise<void>;
  /** Lets all go out, as a node does that stops. */
  end(): void;
};

/**
 * Holds back what anybody may have as often as they like, without a key or with 429: who asks again at once is answered at a
 * pace, and keys and addresses take turns. What else is refused was paid for, and waits for a turn of the event loop.
 */
export function createHeldAnswers({
  clientAddress,
  clock,
}: {
  clientAddress: ClientAddress;
  /** A clock that only goes forward. */
  clock: Clock;
}): HeldAnswers {
  const drip = createDrip({ ...pace, maxWeight: mostReadOfAll, clock });
  return {
    async hold(request, call, response) {
      if (call.keyId !== undefined && call.status !== 429) return await nextTurn();
      const name = call.keyId ?? networkOf(call.address ?? clientAddress(request, call.from));
      const passing = drip.pass(name, unreadBytesOf(request.headers));
      if (passing !== undefined) return await passing;
      response.headers.set("Connection", "close");
      await nextTurn();
    },
    end: drip.end,
  };
}

/** How much of a body the runtime may have read while the answer waits. */
function unreadBytesOf(headers: Headers): number {
  const declared = headers.get("content-length");
  if (declared !== null) return Math.min(Number(declared), mostRead);
  return headers.has("transfer-encoding") ? mostRead : 0;
}
