import { rateExceeded } from "../../contract/errors/errors.ts";
import { isIdentifier } from "../../contract/identifiers.ts";
import { amountOf } from "../../lib/rates/amount.ts";
import { createTokenBuckets, type Rate } from "../../lib/rates/token-buckets.ts";
import { type Clock, steadyClock } from "../../lib/time/clock.ts";
import { type Caller, nobody, noOrganization } from "../keys/permissions.ts";
import { requestCosts } from "./costs.ts";
import { onceAllowed } from "./once-allowed.ts";
import type { OrganizationUse } from "./organization-use.ts";

/** What one call has cost so far, and who pays: its key, and the key's organization or else the one that the call names. */
export type Charge = { cost: number; payer: Caller; org: string | undefined; hasOrgPaid: boolean };

/** Charges calls. A call without a key is charged to nobody. */
export type Charges = ReturnType<typeof createCharges>;

/** Who is charged: keys by their rate limit, organizations by their use. */
export type Payers = {
  rateLimit: RateLimit;
  use: Pick<OrganizationUse, "know" | "admitOnceKnown" | "admitRequest" | "chargeRequest">;
};

/** Creates the charges of calls. */
export function createCharges({ rateLimit, use }: Payers) {
  function notePaid(charge: Charge, org: string | undefined): void {
    charge.org = org;
    charge.hasOrgPaid = true;
  }

  /** Waits only if the node does not know the organization yet. */
  function chargeOrganization(charge: Charge, named: string | undefined): Promise<void> | undefined {
    const org = named !== undefined && isIdentifier(named) ? named : undefined; // an invalid id is about to be refused
    const admitted = use.admitOnceKnown(org, charge.cost);
    if (admitted !== undefined) return admitted.then(() => notePaid(charge, org));
    notePaid(charge, org);
    return undefined;
  }

  const payerOf = ({ payer, org: named }: Charge, org: string | undefined) => ownOf(payer) ?? org ?? named;

  /** Adds work, beyond one request; `org` pays for it if the key has no organization. */
  function add(charge: Charge, more: number, org?: string): void {
    if (more === 0 || charge.payer === nobody) return;
    charge.cost += amountOf(more);
    rateLimit.charge(charge.payer.keyId, more);
    if (charge.hasOrgPaid) use.chargeRequest(payerOf(charge, org), more);
  }

  /** Throws `rate_limited` while the limits of the key, or of the organization that pays, are used up. */
  function requireUnderLimits({ payer, hasOrgPaid }: Charge, org: string | undefined): void {
    rateLimit.admit(payer.keyId, 0);
    if (hasOrgPaid) use.admitRequest(org, 0);
  }

  return {
    /** Begins the charge of a call whose key is not accepted yet. */
    open: (): Charge => ({ cost: 1, payer: nobody, org: undefined, hasOrgPaid: false }),
    /** Charges the call to its key, and to the key's organization if it has one. Throws `rate_limited`. */
    admit(charge: Charge, caller: Caller): Promise<void> | undefined {
      rateLimit.admit(caller.keyId, charge.cost);
      charge.payer = caller;
      const own = ownOf(caller);
      return own === undefined ? undefined : chargeOrganization(charge, own);
    },
    /** Charges the organization that the call names, or none, if the key has no organization. Throws `rate_limited`. */
    admitOrganization(charge: Charge, org: string | undefined): Promise<void> | undefined {
      const isDue = charge.payer !== nobody && ownOf(charge.payer) === undefined && !charge.hasOrgPaid;
      return isDue ? chargeOrganization(charge, org) : undefined;
    },
    /** Adds the size of the body, before it is read if the size is known. */
    addBody: (charge: Charge, bytes: number) => add(charge, requestCosts.bytes(bytes)),
    addWork: add,
    /** Adds the size of the response. */
    addAnswer: (charge: Charge, content: string | Uint8Array) =>
      add(charge, requestCosts.bytes(Buffer.byteLength(content))),
    /** Checks the limits again after the call has waited. Throws `rate_limited` if it may not continue, and refunds it. */
    admitAgain(charge: Charge): void {
      const own = charge.cost;
      add(charge, -own); // a limit may be lower than the cost of a single call
      requireUnderLimits(charge, charge.org);
      add(charge, own);
    },
    /**
     * Adds work, and waits until the limits of the key, and of the organization that pays, allow more: its own or else `org`.
     * Rejects with `rate_limited` if that takes longer than `withinMs`.
     */
    async pay(
      charge: Charge,
      cost: number,
      { org, withinMs = Number.POSITIVE_INFINITY }: { org?: string | undefined; withinMs?: number } = {},
    ): Promise<void> {
      const asked = org === undefined ? undefined : use.know(org);
      if (asked !== undefined) await asked;
      add(charge, cost, org);
      await onceAllowed(() => requireUnderLimits(charge, payerOf(charge, org)), { withinMs, elapsed: steadyClock });
    },
    /** Ends the charge of a refused call, charging it to no organization if it never named one. */
    close({ payer, hasOrgPaid, cost }: Charge): void {
      if (payer !== nobody && !hasOrgPaid) use.chargeRequest(undefined, cost);
    },
  };
}

/** The organization that pays for whatever a caller does, if there is one. */
function ownOf({ rights: { org } }: Caller): string | undefined {
  return org === null || org === noOrganization ? undefined : org;
}

/** Limits the requests of each key, in units of cost. */
export type RateLimit = ReturnType<typeof createRateLimit>;

/** Creates a rate limit with one bucket per key. */
export function createRateLimit({ clock, ...rate }: Rate & { clock: Clock }) {
  const { perSecond } = rate;
  const buckets = createTokenBuckets({ clock });
  return {
    /** Charges a request of this cost or throws `rate_limited`. */
    admit(keyId: string, cost: number): void {
      const waitMs = buckets.waitMs(keyId, rate);
      if (waitMs > 0) {
        const detail = `this key may send ${perSecond} requests per second`;
        throw rateExceeded({ detail, policy: "requests", quota: perSecond, windowSeconds: 1, waitMs });
      }
      buckets.charge(keyId, rate, cost);
    },
    /** Adds to the cost of a request. */
    charge: (keyId: string, cost: number) => buckets.charge(keyId, rate, cost),
  };
}
