import { forgetOldest } from "../../lib/caches/forget-oldest.ts";
import { joinIds } from "../../lib/text/joined-ids.ts";
import type { Identity } from "./tokens.ts";

const maxKnown = 10_000;

/** Remembers revoked tokens reported by the store, so that it need not be asked again; revocations are final. */
export type KnownRevocations = {
  has(identity: Identity): boolean;
  /** Remembers that the user's tokens issued at or before `validAfter` are revoked. */
  learnUser(identity: Identity, validAfter: number): void;
  /** Remembers that this token is revoked. */
  learnToken(identity: Identity): void;
};

/** Creates an empty memory of at most 10,000 entries; the oldest are forgotten first. */
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
