import type { Turnstile } from "../../lib/event-loop/turnstile.ts";
import type { Owner } from "../../lib/owner.ts";
import type { Limiter } from "../../lib/queues/limiter.ts";
import type { OrganizationLimits } from "../../services/limits/organization-limits.ts";
import type { Session, Sessions } from "../../services/sessions/sessions.ts";
import type { Identity } from "../../services/sessions/tokens.ts";
import { passUnlessGone } from "../limits/passing.ts";
import type { Places } from "../limits/places.ts";
import type { UserBudgets } from "../limits/user-budgets.ts";

/**
 * Lets users in. Throws `unauthorized`, or `rate_limited` with the limit and when to come back. Refusals take turns at
 * the exit, so that clients that reconnect at once do not use up the node's time. Places belong to `owner`.
 */
export type Doorkeeper = {
  /**
   * Waits for a turn at the entrance, then takes one of the address's places. Closes `owner` if even the queue of the
   * address's refused connections is full.
   */
  enter(owner: Owner, address: string): Promise<void>;
  /**
   * Opens a session. Checks the token's signature first, which costs no query, then the user's budget and connection
   * count; only then waits for a turn at the database and takes one of the organization's places. Users who connect
   * again and again wait with the refused, too, so that hanging up does not get a client back in faster.
   */
  admit(owner: Owner, token: string, address: string): Promise<Session>;
  /** Like `admit`, for a session that continues: takes no place and does not queue behind new connections. */
  renew(owner: Owner, token: string, address: string): Promise<Session>;
  /** Throws `rate_limited` if a connected user's budget is used up. */
  requireBudget(owner: Owner, user: User): Promise<void>;
};

type User = { org: string; uid: string };

type Dependencies = {
  sessions: Sessions;
  budgets: UserBudgets;
  organizationLimits: Pick<OrganizationLimits, "know" | "limitsOf">;
  places: Omit<Places, "count" | "countOf">;
  /** Queues arriving connections, by address. */
  entrance: Turnstile;
  /** Queues refused connections, by organization, or by address if the organization is unknown. */
  exit: Turnstile;
  /** Bounds how many sessions are being opened at once. */
  admission: Limiter;
  /** Paces how often an organization opens sessions. */
  opening: Turnstile;
};

/** The doorkeeper of one node. */
export function createDoorkeeper(dependencies: Dependencies): Doorkeeper {
  const { sessions, budgets, organizationLimits, places, entrance, exit, admission, opening } = dependencies;

  /** Delays an error of `work` until it is the turn of `name` at the exit. */
  async function refuseInTurn<Result>(owner: Owner, name: string, work: () => Promise<Result>): Promise<Result> {
    try {
      return await work();
    } catch (error) {
      await exit.pass(name, { owner });
      throw error;
    }
  }

  function identify(owner: Owner, token: string, address: string): Promise<Identity> {
    return refuseInTurn(owner, address, () => sessions.identify(token, address));
  }

  /** Returns whether the user connects too often to go straight in. */
  function payForConnect(user: User): boolean {
    budgets.require(user);
    return budgets.chargeConnect(user);
  }

  return {
    async enter(owner, address) {
      await passUnlessGone(entrance, address, owner);
      try {
        places.takeForAddress(owner, address);
      } catch (error) {
        if (places.takeForRefused(owner, address)) await exit.pass(address, { owner });
        else owner.close();
        throw error;
      }
    },
    async admit(owner, token, address) {
      const identity = await identify(owner, token, address);
      const { org } = identity;
      const open = async () => {
        await opening.pass(org, { owner });
        await organizationLimits.know(org);
        places.takeForOrganization(owner, org, organizationLimits.limitsOf(org).connections);
        return await sessions.open(identity);
      };
      return await refuseInTurn(owner, laneOf(org), async () => {
        const isFrequent = payForConnect(identity);
        places.takeForUser(owner, identity);
        if (isFrequent) await exit.pass(laneOf(org), { owner });
        return await admission.run(open, { owner, key: org });
      });
    },
    async renew(owner, token, address) {
      const identity = await identify(owner, token, address);
      return await refuseInTurn(owner, laneOf(identity.org), () => {
        payForConnect(identity);
        return sessions.open(identity);
      });
    },
    async requireBudget(owner, user) {
      await refuseInTurn(owner, laneOf(user.org), async () => budgets.require(user));
    },
  };
}

/** Gives an organization its own lane at the exit even if it is named like an address: no address contains a space. */
function laneOf(org: string): string {
  return `organization ${org}`;
}
