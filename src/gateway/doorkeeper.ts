import type { Limiter } from "../lib/limiter.ts";
import type { Owner } from "../lib/owner.ts";
import type { OrganizationLimits } from "../services/organization-limits.ts";
import type { Session, Sessions } from "../services/sessions.ts";
import type { Identity } from "../services/tokens.ts";
import type { Places } from "./places.ts";
import { costs, type UserBudgets } from "./user-budgets.ts";

/** Lets users in. Both throw `unauthorized`, and `rate_limited` that says which limit it was and when to come back. */
export type Doorkeeper = {
  /**
   * Opens the session of somebody who comes: first the token's signature, which costs no query, then what the user may still ask
   * for, and a place among the user's connections; only then, in turn, the database, and a place among those of the organization.
   * Places belong to `owner`.
   */
  admit(owner: Owner, token: string, address: string): Promise<Session>;
  /** The same for somebody who is in already and goes on: takes no place, and does not wait behind those who want in. */
  renew(token: string, address: string): Promise<Session>;
};

type Dependencies = {
  sessions: Sessions;
  budgets: UserBudgets;
  organizationLimits: Pick<OrganizationLimits, "know" | "limitsOf">;
  places: Pick<Places, "takeForUser" | "takeForOrganization">;
  /** Bounds how many sessions are being opened. */
  admission: Limiter;
};

/** The doorkeeper of one node. */
export function createDoorkeeper(dependencies: Dependencies): Doorkeeper {
  const { sessions, budgets, organizationLimits, places, admission } = dependencies;

  async function identify(token: string, address: string): Promise<Identity> {
    const identity = await sessions.identify(token, address);
    budgets.require(identity);
    budgets.charge(identity, costs.connect);
    return identity;
  }

  return {
    async admit(owner, token, address) {
      const identity = await identify(token, address);
      places.takeForUser(owner, identity);
      const { org } = identity;
      const open = async () => {
        await organizationLimits.know(org);
        places.takeForOrganization(owner, org, organizationLimits.limitsOf(org).connections);
        return await sessions.open(identity);
      };
      return await admission.run(open, owner, org);
    },
    async renew(token, address) {
      return await sessions.open(await identify(token, address));
    },
  };
}
