import { HeraldError } from "../contract/errors.ts";
import type { Clock } from "../lib/clock.ts";
import type { Standing, Users } from "../store/ports.ts";
import type { Refusals } from "./refusals.ts";
import type { Identity, Tokens } from "./tokens.ts";

/** A user who may connect, and where the user stood in the log when that was decided. */
export type Session = Identity & { head: number; cids: string[] };

/** Decides who may connect. */
export type Sessions = {
  /**
   * Verifies the token and reads head and conversations in one snapshot. Whatever is committed later has an offset beyond
   * `head`. A valid token of an unknown user creates the user. Throws `unauthorized`, and `rate_limited` when too many from
   * that address were refused.
   */
  open(token: string, address: string): Promise<Session>;
};

/** Sessions of users with tokens. */
export function createSessions({
  tokens,
  standing,
  users,
  refusals,
  clock,
}: {
  tokens: Tokens;
  standing: Standing;
  users: Users;
  refusals: Refusals;
  clock: Clock;
}): Sessions {
  async function open(token: string): Promise<Session> {
    const identity = await tokens.verify(token);
    const { org, uid, issuedAt } = identity;
    // The snapshot comes first: a sign-out that the check below misses then lies beyond `head`, and will be heard.
    const snapshot = await standing.snapshot(org, uid);
    const validAfter = await users.tokensValidAfter(org, uid);
    const isRevoked = validAfter > 0 && issuedAt <= validAfter;
    if (snapshot === undefined || isRevoked) {
      throw new HeraldError("unauthorized", "the user token is not valid any more; get a fresh one");
    }
    if ((await users.get(org, uid)) === undefined) await users.put(org, uid, undefined, clock.now());
    return { ...identity, ...snapshot };
  }

  return {
    async open(token, address) {
      refusals.admit(address);
      try {
        return await open(token);
      } catch (error) {
        if (error instanceof HeraldError && error.code === "unauthorized") refusals.note(address);
        throw error;
      }
    },
  };
}
