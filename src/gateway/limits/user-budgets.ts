import { rateExceeded } from "../../contract/errors/errors.ts";
import { createWindowQuotas } from "../../lib/rates/window-quota.ts";
import { joinIds } from "../../lib/text/ids.ts";
import type { Clock } from "../../lib/time/clock.ts";
import { requestCosts } from "../../services/limits/costs.ts";
import type { Recovery } from "../../services/messages/recovery.ts";

const windowMs = 60_000;

type User = { org: string; uid: string };

/** Creates unspent budgets. Only users of the last minute are kept. */
export function createUserBudgets({ quota, clock }: { quota: number; clock: Clock }) {
  const quotas = createWindowQuotas({ quota, windowMs, clock });
  return {
    /** Throws `rate_limited`, with `Retry-After`, if the user's budget is used up. */
    require({ org, uid }: User): void {
      const waitMs = quotas.waitMs(joinIds(org, uid));
      if (waitMs === 0) return;
      const detail = "this user has made too many requests over all connections";
      throw rateExceeded({ detail, policy: "requests-per-user", quota, windowSeconds: windowMs / 1000, waitMs });
    },
    /** Charges for what the user was given or is about to be given. */
    charge: ({ org, uid }: User, cost: number): void => quotas.use(joinIds(org, uid), cost),
  };
}

/** Limits what each user may ask of this node per minute, over all connections, including closed ones. */
export type UserBudgets = ReturnType<typeof createUserBudgets>;

/**
 * Charges replay pages to the users who read them. A used-up budget ends a replay; the client's next attempt continues
 * from there.
 */
export function createChargedRecovery(recovery: Recovery, budgets: UserBudgets): Recovery {
  return {
    async resumeAfter(absence, since) {
      const resumption = await recovery.resumeAfter(absence, since);
      if (resumption === undefined) budgets.charge(absence, requestCosts.request); // for counting up to a thousand messages
      return resumption;
    },
    async readGrown(absence, resumption) {
      const pieces = await recovery.readGrown(absence, resumption);
      budgets.charge(absence, requestCosts.replay(pieces.length, bytesOf(pieces)));
      return pieces;
    },
    async read(absence, after, maxBytes) {
      budgets.require(absence);
      const page = await recovery.read(absence, after, maxBytes);
      budgets.charge(absence, requestCosts.replay(page.length, bytesOf(page)));
      return page;
    },
  };
}

function bytesOf(events: readonly { payload: string }[]): number {
  return events.reduce((sum, { payload }) => sum + payload.length, 0);
}
