import { HeraldError } from "../../contract/errors/errors.ts";
import type { ThreadScheduler } from "../../lib/event-loop/thread-scheduler.ts";
import { networkOf } from "../../lib/network/addresses.ts";
import { createOwner, onAbort } from "../../lib/owner.ts";
import type { Downloads } from "../../services/files/downloads.ts";
import { addressName, requestCosts, threadCosts } from "../../services/limits/costs.ts";
import type { UserBudgets } from "./user-budgets.ts";

type Dependencies = {
  budgets: Pick<UserBudgets, "require" | "charge">;
  thread: ThreadScheduler;
  onError(error: unknown): void;
};

/** Creates the limits of downloads on one node. */
export function createDownloads({ budgets, thread, onError }: Dependencies): Downloads {
  /** Waits for a turn. Rejects if the client disconnects meanwhile. Bun creates the signal only if there is something to wait for. */
  async function turn(name: string, request: Pick<Request, "signal">): Promise<void> {
    const owner = () => {
      const waiting = createOwner(onError);
      onAbort(request.signal, () => waiting.close());
      return waiting;
    };
    const waiting = thread.turn(name, threadCosts.connect, { owner });
    if (waiting === undefined) return;
    await waiting;
    if (request.signal.aborted) throw new HeraldError("bad_request", "the client has disconnected");
  }

  return {
    enter: (address, request) => turn(addressName(networkOf(address)), request),
    admit(user) {
      budgets.require(user);
      budgets.charge(user, requestCosts.file);
    },
    charge: (user, bytes) => budgets.charge(user, requestCosts.downloaded(bytes)),
    turn,
  };
}
