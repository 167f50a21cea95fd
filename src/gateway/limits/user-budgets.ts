import { rateLimited, retryAfterOf } from "../../contract/errors/errors.ts";
import { createWindowQuotas } from "../../lib/rates/window-quota.ts";
import { joinIds } from "../../lib/text/joined-ids.ts";
import type { Clock } from "../../lib/time/clock.ts";
import type { CatchUp } from "../../services/messages/catch-up.ts";

const windowMs = 60_000;
const bytesPerUnit = 64 * 1024;
// What was missed goes out as it is stored; all devices of a user come back together after a restart, and again if that fails.
const replayed = { rowsPerUnit: 250, bytesPerUnit: 256 * 1024 };
const receiptsPerUnit = 50;

/** What things cost a user, in units of the budget. */
export const costs = {
  request: 1,
  connect: 0.2,
  /** An answer: what is read from the store is made anew for it. */
  answer: (bytes: number) => Math.max(costs.request, bytes / bytesPerUnit),
  /** A client that acknowledges each message by itself pays little for what others send to it. */
  receipts: (ids: number) => Math.max(0.1, ids / receiptsPerUnit),
  replay: (rows: number, bytes: number) => Math.max(rows / replayed.rowsPerUnit, bytes / replayed.bytesPerUnit),
};

type User = { org: string; uid: string };

/** What each user may ask of this node in a minute, over all connections, also over those that have closed meanwhile. */
export type UserBudgets = {
  /** Throws `rate_limited`, with when to come back, for a user whose budget is used up. */
  require(user: User): void;
  /** Charges what a user was given or is about to be given. */
  charge(user: User, cost: number): void;
};

/** Budgets of which nothing is spent. They are kept for the users of the last minute only. */
export function createUserBudgets({ quota, clock }: { quota: number; clock: Clock }): UserBudgets {
  const quotas = createWindowQuotas({ quota, windowMs, clock });
  return {
    require({ org, uid }) {
      const waitMs = quotas.waitMs(joinIds(org, uid));
      if (waitMs === 0) return;
      const retryAfterSeconds = retryAfterOf(waitMs);
      throw rateLimited({
        detail: `this user has asked for too much of late, over all connections; come back in ${retryAfterSeconds} s`,
        policy: "requests-per-user",
        quota,
        windowSeconds: windowMs / 1000,
        retryAfterSeconds,
      });
    },
    charge: ({ org, uid }, cost) => quotas.use(joinIds(org, uid), cost),
  };
}

/** Charges the pages of what was missed to those who read them. A budget that is used up ends a replay; the next goes on behind it. */
export function chargeCatchUp(catchUp: CatchUp, budgets: UserBudgets): CatchUp {
  return {
    async resumeAfter(absence, since) {
      const offset = await catchUp.resumeAfter(absence, since);
      if (offset === undefined) budgets.charge(absence, costs.request); // up to a thousand messages were counted for that
      return offset;
    },
    async read(absence, after, maxBytes) {
      budgets.require(absence);
      const page = await catchUp.read(absence, after, maxBytes);
      const bytes = page.reduce((sum, { payload }) => sum + payload.length, 0);
      budgets.charge(absence, costs.replay(page.length, bytes));
      return page;
    },
  };
}
