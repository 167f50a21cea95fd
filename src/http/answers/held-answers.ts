import { nextTurn } from "../../lib/event-loop/next-turn.ts";
import { createTurnstile } from "../../lib/event-loop/turnstile.ts";
import { networkOf } from "../../lib/network/addresses.ts";
import type { ClientAddress, Peers } from "../../lib/network/client-address.ts";
import type { Call } from "../calls.ts";

// 2,000 a second of them, which take a tenth of a core; 60 of those with bodies of a megabyte.
const pace = { perTurn: 8, turnMs: 4 };
const bytesOfOne = 32 * 1024;
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

type Dependencies = {
  clientAddress: ClientAddress;
  /** Whether the address of a request keeps more connections alive than it may, this one among them. */
  isOneTooMany(request: Request, from: Peers): boolean;
};

/**
 * Holds back what anybody may have as often as they like, without a key or with 429: who asks again at once is answered at a
 * pace, and keys and addresses take turns. What else is refused was paid for, and waits for a turn of the event loop.
 */
export function createHeldAnswers({ clientAddress, isOneTooMany }: Dependencies): HeldAnswers {
  const exit = createTurnstile(pace.perTurn, pace);
  let held = 0; // bytes of bodies
  return {
    async hold(request, call, response) {
      // Whoever has a key is limited by that, and may keep alive as many connections as there are.
      if (isOneTooMany(request, call.from)) response.headers.set("Connection", "close");
      if (call.keyId !== undefined && call.status !== 429) return await nextTurn();
      const name = call.keyId ?? networkOf(call.address ?? clientAddress(request, call.from));
      const unread = unreadBytesOf(request.headers);
      if (held > 0 && held + unread > mostReadOfAll) {
        response.headers.set("Connection", "close");
        return await nextTurn();
      }
      held += unread;
      await nextTurn();
      await exit.pass(name, { weight: 1 + Math.floor(unread / bytesOfOne) });
      held -= unread;
    },
    end: exit.open,
  };
}

/** How much of a body the runtime may have read while the answer waits. */
function unreadBytesOf(headers: Headers): number {
  const declared = headers.get("content-length");
  if (declared !== null) return Math.min(Number(declared), mostRead);
  return headers.has("transfer-encoding") ? mostRead : 0;
}
