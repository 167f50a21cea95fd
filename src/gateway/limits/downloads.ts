import type { ThreadScheduler } from "../../lib/event-loop/thread-scheduler.ts";
import { networkOf } from "../../lib/network/addresses.ts";
import { createOwner, onAbort } from "../../lib/owner.ts";
import type { Downloads } from "../../services/files/downloads.ts";
import { threadCosts } from "../../services/limits/costs.ts";
import { addressName } from "../../services/limits/turn-names.ts";
import { turnUnlessGone } from "./passing.ts";
import { costs, type UserBudgets } from "./user-budgets.ts";

type Dependencies = {
  budgets: Pick<UserBudgets, "require" | "charge">;
  thread: ThreadScheduler;
  onError(error: unknown): void;
};

/** Creates the limits of downloads on one node. */
export function createDownloads({ budgets, thread, onError }: Dependencies): Downloads {
  /** Waits for a turn. Rejects if the client disconnects meanwhile. */
  async function turn(name: string, { signal }: Pick<Request, "signal">): Promise<void> {
    const owner = createOwner(onError);
    onAbort(signal, owner.close);
    await turnUnlessGone(thread, name, threadCosts.connect, owner);
  }

  return {
    enter: (address, request) => turn(addressName(networkOf(address)), request),
    admit(user) {
      budgets.require(user);
      budgets.charge(user, costs.file);
    },
    charge: (user, bytes) => budgets.charge(user, costs.downloaded(bytes)),
    turn,
  };
}
