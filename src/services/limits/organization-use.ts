import { HeraldError, rateLimited, retryAfterOf } from "../../contract/errors/errors.ts";
import { createMeters } from "../../lib/rates/meters.ts";
import { createTokenBuckets, type Rate } from "../../lib/rates/token-buckets.ts";
import type { Clock } from "../../lib/time/clock.ts";
import type { BatchLog, NewSend } from "../../store/ports.ts";
import type { LimitsOfOrganization, OrganizationLimits } from "./organization-limits.ts";

/** What an organization did on this node in the last whole second: requests in units of cost, and sends that were stored. */
export type OrganizationRates = { requests: number; messages: number };

/** Tells whether a send was stored. */
export type TellStored = (isStored: boolean) => void;

/** Holds organizations to their limits. What names no organization that there is counts as one organization's, too. */
export type OrganizationUse = {
  /** Resolves when this node knows what the organization may do; `undefined` where it does. */
  know(org: string): Promise<void> | undefined;
  /** Takes a request of this cost, with whatever key it came; throws `rate_limited`. `undefined`: it names no organization. */
  admitRequest(org: string | undefined, cost: number): void;
  /** Adds to what a request cost. */
  chargeRequest(org: string | undefined, cost: number): void;
  /**
   * Takes a send, before it goes to the log; gives what tells how that went: a send that was not stored counts for nothing.
   * Throws `rate_limited`. Only where the organization is full it has to ask the log, and then it rejects as `requireRoomFor` does.
   */
  admitSend(send: NewSend): TellStored | Promise<TellStored>;
  /** Rejects with `invalid_request` where the organization stores as much as it may, unless the send is a retry of a stored one. */
  requireRoomFor(send: NewSend): Promise<void>;
  /** The same for what is no send. */
  requireRoom(org: string): void;
  ratesOf(org: string): OrganizationRates;
};

type Options = {
  limits: Pick<OrganizationLimits, "know" | "limitsOf" | "storedBytesOf" | "reserve">;
  checks: Pick<BatchLog, "check">;
  /** How many seconds' worth of its rate an organization may use at once. */
  burstSeconds: number;
  /** A clock that only goes forward. */
  clock: Clock;
};

// No organization has an empty id.
const nobodys = "";

/** Everything is counted on this node alone, as the requests of a key are, but for the bytes that are stored. */
export function createOrganizationUse({ limits, checks, burstSeconds, clock }: Options): OrganizationUse {
  const requests = createTokenBuckets({ clock });
  const messages = createTokenBuckets({ clock });
  const requestMeters = createMeters({ clock });
  const messageMeters = createMeters({ clock });

  const nameOf = (org: string | undefined) =>
    org === undefined || limits.storedBytesOf(org) === undefined ? nobodys : org;
  const rateOf = (org: string, limit: keyof LimitsOfOrganization): Rate => {
    const perSecond = limits.limitsOf(org)[limit] || Number.POSITIVE_INFINITY;
    return { perSecond, burst: perSecond * burstSeconds };
  };

  function hasRoom(org: string, bytes: number): boolean {
    const { storedBytes: limit } = limits.limitsOf(org);
    return limit === 0 || (limits.storedBytesOf(org) ?? 0) + bytes <= limit;
  }

  function full(org: string): HeraldError {
    const { storedBytes: limit } = limits.limitsOf(org);
    const detail = `this organization stores as many bytes as it may (\`limits.stored_bytes\`: ${limit}); nothing was stored`;
    return new HeraldError("invalid_request", detail, { fields: [{ pointer: "", detail }] });
  }

  /** There is no room, but what is stored already needs none. */
  async function requireRetry(send: NewSend): Promise<void> {
    const isNew = send.mid === undefined || send.mid === send.id; // an id of its own tells of no earlier send
    if (isNew || (await checks.check(send)).outcome === "fits") throw full(send.org);
  }

  return {
    know: limits.know,
    admitRequest(org, cost) {
      const name = nameOf(org);
      const rate = rateOf(name, "requestsPerSecond");
      const waitMs = requests.waitMs(name, rate);
      if (waitMs > 0) throw tooMany("requests", rate.perSecond, waitMs);
      requests.charge(name, rate, cost);
      requestMeters.note(name, cost);
    },
    chargeRequest(org, cost) {
      const name = nameOf(org);
      requests.charge(name, rateOf(name, "requestsPerSecond"), cost);
      requestMeters.note(name, cost);
    },
    admitSend(send) {
      const { org } = send;
      const rate = rateOf(org, "messagesPerSecond");
      const waitMs = messages.waitMs(org, rate);
      if (waitMs > 0) throw tooMany("messages", rate.perSecond, waitMs);
      messages.charge(org, rate, 1); // now, since others come while this one waits for the log
      const bytes = bytesOf(send);
      const isRetry = hasRoom(org, bytes) ? undefined : requireRetry(send);
      const endReservation = limits.reserve(org, bytes);
      const end = (isStored: boolean) => {
        endReservation(isStored);
        if (isStored) messageMeters.note(org);
        else messages.charge(org, rate, -1);
      };
      if (isRetry === undefined) return end;
      return isRetry.then(
        () => end,
        (error: unknown) => {
          end(false);
          throw error;
        },
      );
    },
    async requireRoomFor(send) {
      if (!hasRoom(send.org, bytesOf(send))) await requireRetry(send);
    },
    requireRoom(org) {
      if (!hasRoom(org, 1)) throw full(org);
    },
    // What was counted in one second may be given back in the next.
    ratesOf: (org) => ({ requests: Math.max(0, requestMeters.of(org)), messages: messageMeters.of(org) }),
  };
}

function tooMany(what: "requests" | "messages", perSecond: number, waitMs: number): HeraldError {
  const retryAfterSeconds = retryAfterOf(waitMs);
  return rateLimited({
    detail: `this organization may send ${perSecond} ${what} a second; wait ${retryAfterSeconds} s`,
    policy: `organization-${what}`,
    quota: perSecond,
    windowSeconds: 1,
    retryAfterSeconds,
  });
}

/** What a send will count for once it is stored, nearly: users whose ids have to be escaped count for a little more. */
function bytesOf({ payload, uids = [] }: NewSend): number {
  return uids.reduce((sum, uid) => sum + Buffer.byteLength(uid) + 3, Buffer.byteLength(payload));
}
