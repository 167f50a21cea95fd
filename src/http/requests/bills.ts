import { isIdentifier } from "../../contract/identifiers.ts";
import { type Caller, nobody } from "../../services/keys/permissions.ts";
import type { OrganizationUse } from "../../services/limits/organization-use.ts";
import { costOfBytes, type RateLimit } from "./limits.ts";

/** What one call costs, and whom: its key, and the organization of that key, or else the one that the call names. */
export type Bill = {
  /** The key was taken: it pays for the call, and so does its organization. Throws `rate_limited`. */
  admit(caller: Caller): Promise<void> | undefined;
  /** The call is about this organization, or about none, which pays where the key has none. Throws `rate_limited`. */
  name(org: string | undefined): Promise<void> | undefined;
  /** The body comes, or has come if nobody knew how large it would be. */
  addBody(bytes: number): void;
  /** What the body asks for, beyond one request. */
  addWork(cost: number): void;
  /** The call has waited for its turn, and others have been paid for. Throws `rate_limited` if it may not go on, and then it costs nothing. */
  askAgain(): void;
  /** The answer is ready. */
  addAnswer(text: string): void;
  /** The call was refused: what named no organization by then never will. */
  close(): void;
};

type Dependencies = {
  rateLimit: RateLimit;
  use: Pick<OrganizationUse, "know" | "admitRequest" | "chargeRequest">;
};

const surelyCheapCharacters = 16_384; // four bytes each at most

/** Makes the bill of a call. A call without a key has one that nobody pays. */
export function createBills({ rateLimit, use }: Dependencies) {
  return (): Bill => {
    let cost = 1;
    let payer = nobody;
    let payingOrg: string | undefined;
    let hasOrgPaid = false;

    function pay(org: string | undefined): void {
      use.admitRequest(org, cost);
      payingOrg = org;
      hasOrgPaid = true;
    }

    /** Nearly always at once: it waits only where the node does not know the organization. */
    function admitOrganization(named: string | undefined): Promise<void> | undefined {
      const org = named !== undefined && isIdentifier(named) ? named : undefined; // what is none is refused in a moment
      const asked = org === undefined ? undefined : use.know(org);
      if (asked !== undefined) return asked.then(() => pay(org));
      pay(org);
      return undefined;
    }

    function charge(more: number): void {
      if (more === 0 || payer === nobody) return;
      cost += more;
      rateLimit.charge(payer.keyId, more);
      if (hasOrgPaid) use.chargeRequest(payingOrg, more);
    }

    const add = (bytes: number) => charge(costOfBytes(bytes));

    return {
      admit(caller) {
        rateLimit.admit(caller.keyId, cost);
        payer = caller;
        return caller.rights.org === null ? undefined : admitOrganization(caller.rights.org);
      },
      name(org) {
        return payer.rights.org === null && !hasOrgPaid ? admitOrganization(org) : undefined;
      },
      addBody: add,
      addWork: charge,
      askAgain() {
        const own = cost;
        charge(-own); // a limit may be lower than what one call costs
        rateLimit.admit(payer.keyId, 0);
        if (hasOrgPaid) use.admitRequest(payingOrg, 0);
        charge(own);
      },
      addAnswer(text) {
        if (text.length > surelyCheapCharacters) add(Buffer.byteLength(text));
      },
      close() {
        if (payer !== nobody && !hasOrgPaid) use.chargeRequest(undefined, cost);
      },
    };
  };
}
