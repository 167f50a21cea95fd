import { nextTurn } from "../../lib/event-loop/next-turn.ts";
import { createTurnstile } from "../../lib/event-loop/turnstile.ts";
import { networkOf } from "../../lib/network/addresses.ts";
import type { ClientAddress, Peers } from "../../lib/network/client-address.ts";
import type { Call } from "../calls.ts";
import { bytesOfBody, isTooLongToDrop } from "../requests/long-bodies.ts";
import { discard } from "./response.ts";

// 2,000 answers a second, which take a tenth of a core; or 60 with request bodies of a megabyte.
const defaultPace = { perTurn: 8, turnMs: 4, unreadEveryMs: 20 };
const bytesOfOne = 32 * 1024;
// Of a body that nobody reads, Bun takes almost two megabytes, and then no more. That takes a millisecond or two, so few
// begin at a time.
const unreadOnes = { bytes: 2 * 1024 * 1024, most: 128 };
const weightOf = (bytes: number) => 1 + Math.floor(bytes / bytesOfOne);

/** Responses that wait before they are sent. */
export type HeldAnswers = {
  /** Resolves when the response to a cheap request may be sent: in the next turn of the event loop or later. */
  hold(request: Request, call: Call, response: Response): Promise<void>;
  /** Sends all responses, for a node that stops. */
  end(): void;
};

type Dependencies = {
  clientAddress: ClientAddress;
  /** Whether the request's address keeps more connections alive than allowed, this one included. */
  isOneTooMany(request: Request, from: Peers): boolean;
  /**
   * How many answers are sent at once, how long after the ones before, and how long after another one an answer whose
   * body is left unread begins to wait, in milliseconds.
   */
  pace?: { perTurn: number; turnMs: number; unreadEveryMs: number };
};

/**
 * Delays responses that anyone can get as often as they like, without a key or with status 429: repeated requests are
 * answered at a limited rate, and keys and addresses take turns. Meanwhile their bodies are dropped, or left unread if
 * they may have no end, as are those of all other refusals at this pace. Others were charged for, and wait one turn.
 */
export function createHeldAnswers({ clientAddress, isOneTooMany, pace = defaultPace }: Dependencies): HeldAnswers {
  const exit = createTurnstile(pace.perTurn, pace);
  const entrance = createTurnstile(1, { turnMs: pace.unreadEveryMs });
  let unread = 0; // bodies of calls that wait

  /**
   * Waits for a turn to close the connection. Its body is not read meanwhile. It is closed at once if many wait, or one
   * began a moment ago.
   */
  async function waitToClose({ body }: Request, name: string): Promise<void> {
    if (body === null || unread >= unreadOnes.most || !entrance.takes()) return;
    unread++;
    await nextTurn();
    await exit.pass(name, { weight: weightOf(unreadOnes.bytes) });
    unread--;
  }

  return {
    async hold(request, call, response) {
      // Callers with a key are limited by that, and may keep any number of connections alive. What is closed anyway does not count.
      const isClosed = response.headers.get("Connection") === "close";
      if (!isClosed && isOneTooMany(request, call.from)) response.headers.set("Connection", "close");
      const name = call.keyId ?? networkOf(call.address ?? clientAddress(request, call.from));
      if (isTooLongToDrop(request.headers) && !call.isBodyRead) return await waitToClose(request, name);
      if (call.keyId !== undefined && call.status !== 429) return await nextTurn();
      if (!request.bodyUsed) await discard(request.body ?? undefined); // otherwise Bun would keep up to two megabytes of it
      await nextTurn();
      await exit.pass(name, { weight: weightOf(Math.min(bytesOfBody(request.headers), unreadOnes.bytes)) });
    },
    end: exit.open,
  };
}
