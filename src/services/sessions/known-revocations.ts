import { forgetOldest } from "../../lib/keeping/forget-oldest.ts";
import { joinIds } from "../../lib/text/joined-ids.ts";
import type { Identity } from "./tokens.ts";

const maxKnown = 10_000;

/** What the store has said of revoked tokens, so that it need not be asked again: what is revoked stays so. */
export type KnownRevocations = {
  has(identity: Identity): boolean;
  /** The tokens of a user that were issued at or before `validAfter`. */
  learnUser(identity: Identity, validAfter: number): void;
  /** This token alone. */
  learnToken(identity: Identity): void;
};

/** Knows none yet, and 10,000 at most: the first that it learnt is forgotten first. */
export function createKnownRevocations(): KnownRevocations {
  const known = new Map<string, number>();

  const userOf = ({ org, uid }: Identity) => joinIds(org, uid);
  const tokenOf = ({ org, uid, tokenId = "" }: Identity) => joinIds(org, uid, tokenId);

  function learn(name: string, validAfter: number): void {
    known.set(name, validAfter);
    forgetOldest(known, maxKnown);
  }

  return {
    has: (identity) =>
      identity.issuedAt <= (known.get(userOf(identity)) ?? Number.NEGATIVE_INFINITY) ||
      (identity.tokenId !== undefined && known.has(tokenOf(identity))),
    learnUser: (identity, validAfter) => learn(userOf(identity), validAfter),
    learnToken(identity) {
      if (identity.tokenId !== undefined) learn(tokenOf(identity), Number.POSITIVE_INFINITY);
    },
  };
}
