import { nextTurn } from "../../lib/event-loop/next-turn.ts";
import { createTurnstile } from "../../lib/event-loop/turnstile.ts";
import { networkOf } from "../../lib/network/addresses.ts";
import type { ClientAddress, Peers } from "../../lib/network/client-address.ts";
import type { Call } from "../calls.ts";
import { discard } from "./response.ts";

// 2,000 a second of them, which take a tenth of a core; 60 of those with bodies of a megabyte.
const pace = { perTurn: 8, turnMs: 4 };
const bytesOfOne = 32 * 1024;
const mostWeighed = 1_200_000; // bytes

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
 * pace, and keys and addresses take turns. What comes of their bodies meanwhile is dropped. What else is refused was paid for, and
 * waits for a turn of the event loop.
 */
export function createHeldAnswers({ clientAddress, isOneTooMany }: Dependencies): HeldAnswers {
  const exit = createTurnstile(pace.perTurn, pace);
  return {
    async hold(request, call, response) {
      // Whoever has a key is limited by that, and may keep alive as many connections as there are.
      if (isOneTooMany(request, call.from)) response.headers.set("Connection", "close");
      if (call.keyId !== undefined && call.status !== 429) return await nextTurn();
      const name = call.keyId ?? networkOf(call.address ?? clientAddress(request, call.from));
      if (!request.bodyUsed) await discard(request.body ?? undefined); // else the runtime would keep a megabyte of each
      await nextTurn();
      await exit.pass(name, { weight: 1 + Math.floor(bytesOf(request.headers) / bytesOfOne) });
    },
    end: exit.open,
  };
}

/** How much of a body the runtime takes in, as far as that counts. */
function bytesOf(headers: Headers): number {
  const declared = headers.get("content-length");
  if (declared !== null) return Math.min(Number(declared), mostWeighed);
  return headers.has("transfer-encoding") ? mostWeighed : 0;
}
