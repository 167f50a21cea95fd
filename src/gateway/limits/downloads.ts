import { createTurnstile, type Turnstile } from "../../lib/event-loop/turnstile.ts";
import { networkOf } from "../../lib/network/addresses.ts";
import { createOwner, onAbort } from "../../lib/owner.ts";
import type { Downloads } from "../../services/files/downloads.ts";
import { passUnlessGone } from "./passing.ts";
import { costs, type UserBudgets } from "./user-budgets.ts";

// Requests whose tokens are verified per turn of the event loop, or in 2 ms while organizations share the node: some 1,000 a second.
const entering = { perTurn: { alone: 4, shared: 2 }, turnMs: 2 };
// Files of one organization that are opened while several share the node: some 450 a second, like sessions.
const openedOfOrganization = { most: 4, inMs: 8 };

type Dependencies = {
  budgets: Pick<UserBudgets, "require" | "charge">;
  isShared(): boolean;
  onError(error: unknown): void;
};

/** Creates the limits of downloads on one node. */
export function createDownloads({ budgets, isShared, onError }: Dependencies): Downloads {
  const opening = createTurnstile(Number.POSITIVE_INFINITY, {
    names: {
      mostOf: () => (isShared() ? openedOfOrganization.most : Number.POSITIVE_INFINITY),
      ms: openedOfOrganization.inMs,
    },
  });
  const entrance = createTurnstile(() => entering.perTurn[isShared() ? "shared" : "alone"], {
    turnMs: () => (isShared() ? entering.turnMs : undefined),
  });

  /** Passes a turnstile, unless the client hangs up. */
  async function pass(turnstile: Turnstile, name: string, { signal }: Pick<Request, "signal">): Promise<void> {
    if (turnstile.takes(1, name)) return;
    const owner = createOwner(onError);
    onAbort(signal, owner.close);
    await passUnlessGone(turnstile, name, owner);
  }

  return {
    enter: (address, request) => pass(entrance, networkOf(address), request),
    admit(user) {
      budgets.require(user);
      budgets.charge(user, costs.file);
    },
    charge: (user, bytes) => budgets.charge(user, costs.downloaded(bytes)),
    turn: (name, request) => pass(opening, name, request),
  };
}
