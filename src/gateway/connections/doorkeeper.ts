import { HeraldError } from "../../contract/errors/errors.ts";
import type { Turnstile } from "../../lib/event-loop/turnstile.ts";
import type { Owner } from "../../lib/owner.ts";
import type { Limiter } from "../../lib/queues/limiter.ts";
import type { OrganizationLimits } from "../../services/limits/organization-limits.ts";
import type { Session, Sessions } from "../../services/sessions/sessions.ts";
import type { Identity } from "../../services/sessions/tokens.ts";
import type { Places } from "../limits/places.ts";
import { costs, type UserBudgets } from "../limits/user-budgets.ts";

/**
 * Lets users in. Throws `unauthorized`, and `rate_limited` that says which limit it was and when to come back: each in its turn at the
 * exit, so that those who return as soon as they are refused leave the node's time to others. Places belong to `owner`.
 */
export type Doorkeeper = {
  /**
   * Lets somebody come to the door, in turn, and takes a place among the connections of the address. Closes `owner` where even those
   * who wait to hear that there is none are too many.
   */
  enter(owner: Owner, address: string): Promise<void>;
  /**
   * Opens the session of somebody who comes: first the token's signature, which costs no query, then what the user may still ask
   * for, and a place among the user's connections; only then, in turn, the database, and a place among those of the organization.
   */
  admit(owner: Owner, token: string, address: string): Promise<Session>;
  /** The same for somebody who is in already and goes on: takes no place, and does not wait behind those who want in. */
  renew(owner: Owner, token: string, address: string): Promise<Session>;
  /** For somebody who is in: throws where the user has used up what may be asked for. */
  requireBudget(owner: Owner, user: User): Promise<void>;
};

type User = { org: string; uid: string };

type Dependencies = {
  sessions: Sessions;
  budgets: UserBudgets;
  organizationLimits: Pick<OrganizationLimits, "know" | "limitsOf">;
  places: Omit<Places, "count" | "countOf">;
  /** What those who come go through, by address. */
  entrance: Turnstile;
  /** What those who are refused go through, by organization, and by address where none is known. */
  exit: Turnstile;
  /** Bounds how many sessions are being opened. */
  admission: Limiter;
};

/** The doorkeeper of one node. */
export function createDoorkeeper(dependencies: Dependencies): Doorkeeper {
  const { sessions, budgets, organizationLimits, places, entrance, exit, admission } = dependencies;

  /** Throws what `work` throws when the turn of `name` has come at the exit. */
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

  function payForConnect(user: User): void {
    budgets.require(user);
    budgets.charge(user, costs.connect);
  }

  return {
    async enter(owner, address) {
      await entrance.pass(address, { owner });
      if (owner.isClosed) throw new HeraldError("bad_request", "whoever asked has hung up");
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
        await organizationLimits.know(org);
        places.takeForOrganization(owner, org, organizationLimits.limitsOf(org).connections);
        return await sessions.open(identity);
      };
      return await refuseInTurn(owner, laneOf(org), () => {
        payForConnect(identity);
        places.takeForUser(owner, identity);
        return admission.run(open, { owner, key: org });
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

/** An organization may be named like an address, but its lane at the exit is its own: no address has a space. */
function laneOf(org: string): string {
  return `organization ${org}`;
}
