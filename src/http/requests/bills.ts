import { isIdentifier } from "../../contract/identifiers.ts";
import { type Caller, nobody } from "../../services/keys/permissions.ts";
import { costOfBytes, type RateLimit } from "../../services/limits/key-rates.ts";
import type { OrganizationUse } from "../../services/limits/organization-use.ts";

/** What one call has cost so far, and whom: its key, and the organization of that key, or else the one that the call names. */
export type Bill = { cost: number; payer: Caller; org: string | undefined; hasOrgPaid: boolean };

/** Makes the bills of calls. A call without a key has one that nobody pays. */
export type Bills = {
  /** The bill of a call whose key was not taken yet. */
  open(): Bill;
  /** The key was taken: it pays for the call, and so does its organization. Throws `rate_limited`. */
  admit(bill: Bill, caller: Caller): Promise<void> | undefined;
  /** The call is about this organization, or about none, which pays where the key has none. Throws `rate_limited`. */
  name(bill: Bill, org: string | undefined): Promise<void> | undefined;
  /** The body comes, or has come if nobody knew how large it would be. */
  addBody(bill: Bill, bytes: number): void;
  /** What the body asks for, beyond one request. */
  addWork(bill: Bill, cost: number): void;
  /** The call has waited for its turn, and others have been paid for. Throws `rate_limited` if it may not go on, and then it costs nothing. */
  askAgain(bill: Bill): void;
  /** The answer is ready. */
  addAnswer(bill: Bill, text: string): void;
  /** The call was refused: what named no organization by then never will. */
  close(bill: Bill): void;
};

type Dependencies = {
  rateLimit: RateLimit;
  use: Pick<OrganizationUse, "know" | "admitRequest" | "chargeRequest">;
};

const surelyCheapCharacters = 16_384; // four bytes each at most

/** Charges keys by their rate limit, and organizations by their use. */
export function createBills({ rateLimit, use }: Dependencies): Bills {
  function pay(bill: Bill, org: string | undefined): void {
    use.admitRequest(org, bill.cost);
    bill.org = org;
    bill.hasOrgPaid = true;
  }

  /** Nearly always at once: it waits only where the node does not know the organization. */
  function admitOrganization(bill: Bill, named: string | undefined): Promise<void> | undefined {
    const org = named !== undefined && isIdentifier(named) ? named : undefined; // what is none is refused in a moment
    const asked = org === undefined ? undefined : use.know(org);
    if (asked !== undefined) return asked.then(() => pay(bill, org));
    pay(bill, org);
    return undefined;
  }

  function charge(bill: Bill, more: number): void {
    if (more === 0 || bill.payer === nobody) return;
    bill.cost += more;
    rateLimit.charge(bill.payer.keyId, more);
    if (bill.hasOrgPaid) use.chargeRequest(bill.org, more);
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
      charge(bill, -own); // a limit may be lower than what one call costs
      rateLimit.admit(bill.payer.keyId, 0);
      if (bill.hasOrgPaid) use.admitRequest(bill.org, 0);
      charge(bill, own);
    },
    addAnswer(bill, text) {
      if (text.length > surelyCheapCharacters) charge(bill, costOfBytes(Buffer.byteLength(text)));
    },
    close({ payer, hasOrgPaid, cost }) {
      if (payer !== nobody && !hasOrgPaid) use.chargeRequest(undefined, cost);
    },
  };
}
