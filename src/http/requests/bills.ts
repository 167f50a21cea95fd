import { isIdentifier } from "../../contract/identifiers.ts";
import { amountOf } from "../../lib/rates/amount.ts";
import { type Caller, nobody } from "../../services/keys/permissions.ts";
import { costOfBytes, type RateLimit } from "../../services/limits/key-rates.ts";
import { admitOnceKnown, type OrganizationUse } from "../../services/limits/organization-use.ts";

/** What one call has cost so far, and who pays: its key, and the key's organization or else the one that the call names. */
export type Bill = { cost: number; payer: Caller; org: string | undefined; hasOrgPaid: boolean };

/** Charges calls. The bill of a call without a key is charged to nobody. */
export type Bills = {
  /** Opens the bill of a call whose key is not accepted yet. */
  open(): Bill;
  /** Charges the call to its key, and to the key's organization if it has one. Throws `rate_limited`. */
  admit(bill: Bill, caller: Caller): Promise<void> | undefined;
  /** Charges the organization that the call names, or none, if the key has no organization. Throws `rate_limited`. */
  name(bill: Bill, org: string | undefined): Promise<void> | undefined;
  /** Adds the size of the body, before it is read if the size is known. */
  addBody(bill: Bill, bytes: number): void;
  /** Adds work that the body asks for, beyond one request; `org` pays for it if the key has no organization. */
  addWork(bill: Bill, cost: number, org?: string): void;
  /**
   * Checks the limits again after the call has waited. Throws `rate_limited` if it may not continue, and refunds it.
   */
  askAgain(bill: Bill): void;
  /** Throws `rate_limited` while the limits of the key, or of the organization that pays, are used up. */
  mayGoOn(bill: Bill, org?: string): void;
  /** Adds the size of the response. */
  addAnswer(bill: Bill, text: string): void;
  /** Ends the bill of a refused call, charging it to no organization if it never named one. */
  close(bill: Bill): void;
};

type Dependencies = {
  rateLimit: RateLimit;
  use: Pick<OrganizationUse, "know" | "admitRequest" | "chargeRequest">;
};

const surelyCheapCharacters = 16_384; // at most four bytes each

/** Creates the bills of calls, which keys pay by their rate limit, and organizations by their use. */
export function createBills({ rateLimit, use }: Dependencies): Bills {
  function notePaid(bill: Bill, org: string | undefined): void {
    bill.org = org;
    bill.hasOrgPaid = true;
  }

  /** Waits only if the node does not know the organization yet. */
  function admitOrganization(bill: Bill, named: string | undefined): Promise<void> | undefined {
    const org = named !== undefined && isIdentifier(named) ? named : undefined; // an invalid id is about to be refused
    const admitted = admitOnceKnown(use, org, bill.cost);
    if (admitted !== undefined) return admitted.then(() => notePaid(bill, org));
    notePaid(bill, org);
    return undefined;
  }

  const payerOf = ({ payer, org: named }: Bill, org: string | undefined) => payer.rights.org ?? org ?? named;

  function charge(bill: Bill, more: number, org?: string): void {
    if (more === 0 || bill.payer === nobody) return;
    bill.cost += amountOf(more);
    rateLimit.charge(bill.payer.keyId, more);
    if (bill.hasOrgPaid) use.chargeRequest(payerOf(bill, org), more);
  }

  return {
    open: () => ({ cost: 1, payer: nobody, org: undefined, hasOrgPaid: false }),
    admit(bill, caller) {
      rateLimit.admit(caller.keyId, bill.cost);
      bill.payer = caller;
      return caller.rights.org === null ? undefined : admitOrganization(bill, caller.rights.org);
    },
    name: (bill, org) =>
      bill.payer.rights.org === null && !bill.hasOrgPaid ? admitOrganization(bill, org) : undefined,
    addBody: (bill, bytes) => charge(bill, costOfBytes(bytes)),
    addWork: charge,
    askAgain(bill) {
      const own = bill.cost;
      charge(bill, -own); // a limit may be lower than the cost of a single call
      rateLimit.admit(bill.payer.keyId, 0);
      if (bill.hasOrgPaid) use.admitRequest(bill.org, 0);
      charge(bill, own);
    },
    mayGoOn(bill, org) {
      rateLimit.admit(bill.payer.keyId, 0);
      if (bill.hasOrgPaid) use.admitRequest(payerOf(bill, org), 0);
    },
    addAnswer(bill, text) {
      if (text.length > surelyCheapCharacters) charge(bill, costOfBytes(Buffer.byteLength(text)));
    },
    close({ payer, hasOrgPaid, cost }) {
      if (payer !== nobody && !hasOrgPaid) use.chargeRequest(undefined, cost);
    },
  };
}
