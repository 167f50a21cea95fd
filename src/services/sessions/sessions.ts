import { HeraldError, unavailable } from "../../contract/errors/errors.ts";
import { forgetOldest } from "../../lib/caches/forget-oldest.ts";
import { createBatcher } from "../../lib/queues/batcher.ts";
import { rowsOfStep } from "../../lib/queues/steps.ts";
import { joinIds } from "../../lib/text/ids.ts";
import type { Clock } from "../../lib/time/clock.ts";
import type { Standing, Users } from "../../store/ports.ts";
import type { Refusals } from "../limits/refusals.ts";
import type { LastEnds } from "./last-ends.ts";
import type { Identity, Tokens } from "./tokens.ts";

const maxNewcomersWaiting = 20_000;
const maxKnownRevocations = 10_000;

/** A user allowed to connect, the place in the log at which that was decided, and whether the organization has inboxes. */
export type Session = Identity & { head: number; headId: string | undefined; cids: string[]; hasInboxes: boolean };

/** Decides who may connect. */
export type Sessions = ReturnType<typeof createSessions>;

/** Creates the sessions of one node. */
export function createSessions({
  tokens,
  standing,
  users,
  refusals,
  clock,
  lastEnds = { noteRefusal: () => undefined },
  onRefused = () => undefined,
}: {
  tokens: Tokens;
  standing: Pick<Standing, "snapshot">;
  users: Pick<Users, "ensure">;
  refusals: Refusals;
  clock: Clock;
  /** Told of refused tokens whose signature is valid. */
  lastEnds?: Pick<LastEnds, "noteRefusal">;
  /** Called with the reason for each token that is refused. */
  onRefused?(reason: HeraldError): void;
}) {
  const newcomers = createBatcher<{ org: string; uid: string }, void>({
    async flush(batch) {
      await users.ensure(batch, clock.now());
      return batch.map(() => undefined);
    },
    maxBatch: rowsOfStep,
    maxWaiting: maxNewcomersWaiting,
    keyOf: ({ org }) => org,
    whenFull: () => unavailable({ detail: "too many users are connecting for the first time; try again" }),
  });

  const revocations = createKnownRevocations();

  async function verify(token: string, address: string): Promise<Identity> {
    try {
      return await tokens.verify(token, (user) => lastEnds.noteRefusal(user, user.check));
    } catch (error) {
      if (error instanceof HeraldError && error.code === "unauthorized") {
        onRefused(error);
        refusals.admit(address);
        refusals.note(address);
      }
      throw error;
    }
  }

  function refuse(identity: Identity, check: "revoked" | "blocked", error: HeraldError): never {
    lastEnds.noteRefusal(identity, check);
    onRefused(error);
    throw error;
  }

  /** Throws `unauthorized` if `open` found the token of this identity revoked. */
  function requireUnrevoked(identity: Identity): void {
    if (revocations.has(identity)) refuse(identity, "revoked", revoked());
  }

  return {
    /**
     * Identifies the user of a token by signature and claims, without the database. Throws `unauthorized`, or
     * `rate_limited` instead if too many invalid tokens came from that address lately; valid tokens are never refused for
     * that. A token that `open` found revoked is refused at once, so that it uses up none of its user's budget.
     */
    async identify(token: string, address: string): Promise<Identity> {
      const identity = await verify(token, address);
      requireUnrevoked(identity);
      return identity;
    },
    requireUnrevoked,
    /**
     * Reads revocations, blocks, the head and the user's conversations in one snapshot. Anything committed later,
     * including a sign-out or block, has an offset beyond `head`. A valid token of an unknown user creates the user.
     * Throws `unauthorized`.
     */
    async open(identity: Identity): Promise<Session> {
      const { org, uid, issuedAt, tokenId } = identity;
      const snapshot = await standing.snapshot(org, uid, tokenId);
      const validAfter = snapshot?.tokensValidAfter ?? 0;
      const isRevoked = validAfter > 0 && issuedAt <= validAfter;
      if (isRevoked) revocations.learnUser(identity, validAfter);
      if (snapshot?.isRevoked === true) revocations.learnToken(identity);
      if (snapshot === undefined || isRevoked || snapshot.isRevoked) refuse(identity, "revoked", revoked());
      const { head, headId, cids, isUser, isBlocked, hasInboxes } = snapshot;
      if (isBlocked) {
        const detail = "this user is blocked; only the operator of this service can unblock the user";
        refuse(identity, "blocked", new HeraldError("unauthorized", detail, { closes: "removed" }));
      }
      if (!isUser) await newcomers.add({ org, uid });
      return { ...identity, head, headId, cids, hasInboxes };
    },
  };
}

function revoked(): HeraldError {
  return new HeraldError("unauthorized", "the user token is no longer valid; get a fresh one");
}

/**
 * Creates an empty memory of revoked tokens, so that the store need not be asked again; revocations are final. Of more than 10,000
 * entries, the oldest are forgotten.
 */
function createKnownRevocations() {
  const known = new Map<string, number>();

  const userOf = ({ org, uid }: Identity) => joinIds(org, uid);
  const tokenOf = ({ org, uid, tokenId = "" }: Identity) => joinIds(org, uid, tokenId);

  function learn(name: string, validAfter: number): void {
    known.set(name, validAfter);
    forgetOldest(known, maxKnownRevocations);
  }

  return {
    has: (identity: Identity) =>
      identity.issuedAt <= (known.get(userOf(identity)) ?? Number.NEGATIVE_INFINITY) ||
      (identity.tokenId !== undefined && known.has(tokenOf(identity))),
    /** Remembers that the user's tokens issued at or before `validAfter` are revoked. */
    learnUser: (identity: Identity, validAfter: number) => learn(userOf(identity), validAfter),
    learnToken(identity: Identity) {
      if (identity.tokenId !== undefined) learn(tokenOf(identity), Number.POSITIVE_INFINITY);
    },
  };
}
