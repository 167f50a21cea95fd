import { HeraldError } from "../../contract/errors/errors.ts";
import type { ThreadScheduler } from "../../lib/event-loop/thread-scheduler.ts";
import type { Owner } from "../../lib/owner.ts";
import type { Limiter } from "../../lib/queues/limiter.ts";
import { addressName, requestCosts, threadCosts } from "../../services/limits/costs.ts";
import type { OrganizationLimits } from "../../services/limits/organization-limits.ts";
import type { LastEnds } from "../../services/sessions/last-ends.ts";
import type { Session, Sessions } from "../../services/sessions/sessions.ts";
import type { Identity } from "../../services/sessions/tokens.ts";
import type { ConnectionQuotas } from "../limits/connection-quotas.ts";
import type { UserBudgets } from "../limits/user-budgets.ts";

type User = { org: string; uid: string };

type Dependencies = {
  sessions: Sessions;
  budgets: UserBudgets;
  organizationLimits: Pick<OrganizationLimits, "know" | "limitsOf">;
  quotas: Omit<ConnectionQuotas, "count" | "countOf">;
  lastEnds: Pick<LastEnds, "noteRefusal">;
  thread: ThreadScheduler;
  /** Bounds how many sessions are being opened at once. */
  openings: Limiter;
};

/** Creates the admission of one node. */
export function createAdmission(dependencies: Dependencies) {
  const { sessions, budgets, organizationLimits, quotas, lastEnds, thread, openings } = dependencies;

  /** Delays an error of `work` until the next turn of `name`. */
  async function refuseInTurn<Result>(owner: Owner, name: string, work: () => Promise<Result>): Promise<Result> {
    try {
      return await work();
    } catch (error) {
      await thread.turn(name, threadCosts.refusal(), { owner });
      throw error;
    }
  }

  function identify(owner: Owner, token: string, address: string): Promise<Identity> {
    return refuseInTurn(owner, addressName(address), () => sessions.identify(token, address));
  }

  /** Notes that a limit keeps the user out. */
  async function withinLimits<Result>(user: User, work: () => Promise<Result>): Promise<Result> {
    try {
      return await work();
    } catch (error) {
      if (error instanceof HeraldError && error.code === "rate_limited") lastEnds.noteRefusal(user, "limit");
      throw error;
    }
  }

  function chargeConnect(user: User): void {
    budgets.require(user);
    budgets.charge(user, requestCosts.connect);
  }

  return {
    /**
     * Waits for the address's turn, then counts the connection towards its quota. Closes `owner` if even the queue of the
     * address's refused connections is full.
     */
    async enter(owner: Owner, address: string): Promise<void> {
      await thread.turn(addressName(address), threadCosts.connect, { owner });
      if (owner.isClosed) throw new HeraldError("bad_request", "the client has disconnected");
      try {
        quotas.takeForAddress(owner, address);
      } catch (error) {
        if (quotas.takeForRefused(owner, address))
          await thread.turn(addressName(address), threadCosts.refusal(), { owner });
        else owner.close();
        throw error;
      }
    },
    /**
     * Opens a session. Checks the token's signature first, which costs no query, then the user's budget and connection
     * count; only then waits for a turn at the database, and counts towards the organization's quota.
     */
    async admit(owner: Owner, token: string, address: string): Promise<Session> {
      const identity = await identify(owner, token, address);
      const { org } = identity;
      const open = async () => {
        await organizationLimits.know(org);
        quotas.takeForOrganization(owner, org, organizationLimits.limitsOf(org).connections);
        return await sessions.open(identity);
      };
      const enter = async () => {
        chargeConnect(identity);
        quotas.takeForUser(owner, identity);
        return await openings.run(open, { owner, key: org });
      };
      return await refuseInTurn(owner, org, () => withinLimits(identity, enter));
    },
    /** Like `admit`, for a session that continues: it counts already, and does not queue behind new connections. */
    async renew(owner: Owner, token: string, address: string): Promise<Session> {
      const identity = await identify(owner, token, address);
      return await refuseInTurn(owner, identity.org, () => {
        chargeConnect(identity);
        return sessions.open(identity);
      });
    },
    /** Throws `rate_limited` if a connected user's budget is used up. */
    async requireBudget(owner: Owner, user: User): Promise<void> {
      await refuseInTurn(owner, user.org, async () => budgets.require(user));
    },
  };
}

/**
 * Admits users. Throws `unauthorized`, or `rate_limited` with the limit and `Retry-After`. Refusals wait for their turn, so that
 * clients that reconnect at once do not use up the node's time. What is counted is released when `owner` closes.
 */
export type Admission = ReturnType<typeof createAdmission>;
