import { nextTurn } from "../../lib/event-loop/next-turn.ts";
import type { ThreadScheduler } from "../../lib/event-loop/thread-scheduler.ts";
import type { ClientAddress, Peers } from "../../lib/network/client-address.ts";
import { threadCosts } from "../../services/limits/costs.ts";
import { discard } from "../call/answer.ts";
import { type Call, turnNameOf } from "../calls.ts";
import { isTooLongToDrop } from "../requests/body.ts";

// Of a body that nobody reads, Bun takes almost two megabytes, and then no more.
const unreadOnes = { bytes: 2 * 1024 * 1024, most: 8 };

type Dependencies = {
  clientAddress: ClientAddress;
  /** Whether the request's address keeps more connections alive than allowed, this one included. */
  isOneTooMany(request: Request, from: Peers): boolean;
  thread: ThreadScheduler;
};

/**
 * Delays responses that anyone can get as often as they like, without a key: addresses take turns. Meanwhile their bodies are
 * dropped, or left unread if they may have no end. Refused calls with a key have had their turn, and wait for the next one of
 * the event loop.
 */
export function createHeldAnswers({ clientAddress, isOneTooMany, thread }: Dependencies) {
  let unread = 0; // bodies of calls that wait

  /** Waits for a turn to close the connection. Its body is not read meanwhile. It is closed at once if many wait. */
  async function waitToClose({ body }: Request, name: string): Promise<void> {
    if (body === null || unread >= unreadOnes.most) return;
    unread++;
    await nextTurn();
    await thread.turn(name, threadCosts.refusal(unreadOnes.bytes));
    unread--;
  }

  return {
    /** Resolves when the response to a cheap request may be sent: in the next turn of the event loop or later. */
    async hold(request: Request, call: Call, response: Response): Promise<void> {
      // Callers with a key are limited by that, and may keep any number of connections alive. What is closed anyway does not count.
      const isClosed = response.headers.get("Connection") === "close";
      if (!isClosed && isOneTooMany(request, call.from)) response.headers.set("Connection", "close");
      const name = turnNameOf(request, call, clientAddress);
      if (isTooLongToDrop(call.bodyBytes) && !call.isBodyRead) return await waitToClose(request, name);
      if (call.keyId !== undefined) return await nextTurn();
      if (!request.bodyUsed) await discard(request.body ?? undefined); // otherwise Bun would keep up to two megabytes of it
      await nextTurn();
      await thread.turn(name, threadCosts.refusal(Math.min(call.bodyBytes, unreadOnes.bytes)));
    },
  };
}
