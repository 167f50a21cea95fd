import { rateExceeded } from "../../contract/errors/errors.ts";
import { createWindowQuotas } from "../../lib/rates/window-quota.ts";
import { joinIds } from "../../lib/text/joined-ids.ts";
import type { Clock } from "../../lib/time/clock.ts";
import type { Recovery } from "../../services/messages/recovery.ts";

const windowMs = 60_000;
const bytesPerUnit = 64 * 1024;
// Replays are cheap: they go out as stored, and all devices of a user reconnect together after a restart, possibly more
// than once.
const replayed = { rowsPerUnit: 250, bytesPerUnit: 256 * 1024 };
const downloadedPerUnit = 4 * 1024 * 1024;
const receiptsPerUnit = 50;
const lookupsPerUnit = 20; // users or conversations that are looked up one by one
const countedPerUnit = 2_500; // unread messages: a millisecond of reading
/** The cost of each operation, in units of the user's budget. */
export const costs = {
  request: 1,
  connect: 0.2,
  /** An answer that is built from what the store returns. */
  answer: (bytes: number) => Math.max(costs.request, bytes / bytesPerUnit),
  /** Cheap, so that a client that acknowledges messages one by one pays little for what others send it. */
  receipts: (ids: number) => Math.max(0.1, ids / receiptsPerUnit),
  /** In addition to the answer, for unread messages that were counted one by one. */
  counting: (unread: number) => unread / countedPerUnit,
  /** In addition to the answer, for users or conversations that were looked up one by one. */
  lookups: (named: number) => named / lookupsPerUnit,
  /** A request for a file, in addition to its bytes; cheap, as a page may show hundreds of pictures. */
  file: 0.25,
  /** Cheap, as the operating system sends them. */
  downloaded: (bytes: number) => bytes / downloadedPerUnit,
  replay: (rows: number, bytes: number) => Math.max(rows / replayed.rowsPerUnit, bytes / replayed.bytesPerUnit),
};

type User = { org: string; uid: string };

/** Limits what each user may ask of this node per minute, over all connections, including closed ones. */
export type UserBudgets = {
  /** Throws `rate_limited`, with `Retry-After`, if the user's budget is used up. */
  require(user: User): void;
  /** Charges for what the user was given or is about to be given. */
  charge(user: User, cost: number): void;
  chargeConnect(user: User): void;
};

type Options = {
  quota: number;
  clock: Clock;
};

/** Creates unspent budgets. Only users of the last minute are kept. */
export function createUserBudgets({ quota, clock }: Options): UserBudgets {
  const quotas = createWindowQuotas({ quota, windowMs, clock });
  const charge = ({ org, uid }: User, cost: number) => quotas.use(joinIds(org, uid), cost);
  return {
    require({ org, uid }) {
      const waitMs = quotas.waitMs(joinIds(org, uid));
      if (waitMs === 0) return;
      const detail = "this user has made too many requests over all connections";
      throw rateExceeded({ detail, policy: "requests-per-user", quota, windowSeconds: windowMs / 1000, waitMs });
    },
    charge,
    chargeConnect: (user) => charge(user, costs.connect),
  };
}

/**
 * Charges replay pages to the users who read them. A used-up budget ends a replay; the client's next attempt continues
 * from there.
 */
export function createChargedRecovery(recovery: Recovery, budgets: UserBudgets): Recovery {
  return {
    async resumeAfter(absence, since) {
      const offset = await recovery.resumeAfter(absence, since);
      if (offset === undefined) budgets.charge(absence, costs.request); // for counting up to a thousand messages
      return offset;
    },
    async read(absence, after, maxBytes) {
      budgets.require(absence);
      const page = await recovery.read(absence, after, maxBytes);
      const bytes = page.reduce((sum, { payload }) => sum + payload.length, 0);
      budgets.charge(absence, costs.replay(page.length, bytes));
      return page;
    },
  };
}
