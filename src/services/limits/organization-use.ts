import { type HeraldError, invalidRequest, rateExceeded } from "../../contract/errors/errors.ts";
import { createMeters } from "../../lib/rates/amount.ts";
import { createTokenBuckets, type Rate } from "../../lib/rates/token-buckets.ts";
import type { SteadyClock } from "../../lib/time/clock.ts";
import type { BatchLog, NewSend } from "../../store/ports.ts";
import type { LimitsOfOrganization, OrganizationLimits } from "./organization-limits.ts";

/** An organization's rates on this node in the last whole second: requests in units of cost, and stored sends. */
export type OrganizationRates = { requests: number; messages: number };

/** Call with whether the send was stored. */
export type TellStored = (isStored: boolean) => void;

/** Room that is reserved for bytes. */
export type Room = {
  error: HeraldError | undefined;
  grow(bytes: number): HeraldError | undefined;
  end: TellStored;
};

/**
 * Enforces the limits of organizations. Requests that name no existing organization are counted together, like one
 * organization's.
 */
export type OrganizationUse = ReturnType<typeof createOrganizationUse>;

type Options = {
  limits: Pick<OrganizationLimits, "know" | "limitsOf" | "storedBytesOf" | "reserve">;
  checks: Pick<BatchLog, "check">;
  /** How many seconds' worth of its rate an organization may use at once. */
  burstSeconds: number;
  clock: SteadyClock;
};

// No organization has an empty id.
const nobodys = "";

/** Creates the counters. All are per node, like those of keys, except stored bytes. */
export function createOrganizationUse({ limits, checks, burstSeconds, clock }: Options) {
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
    const detail = `this organization has reached its storage limit (\`limits.stored_bytes\`: ${limit}), so nothing was stored; raise the limit to store more`;
    return invalidRequest("", detail);
  }

  /** Throws unless the send is stored already and so needs no room. */
  async function requireRetry(send: NewSend): Promise<void> {
    const isNew = send.mid === undefined || send.mid === send.id; // a generated id cannot be that of an earlier send
    if (isNew || (await checks.check(send)).verdict === undefined) throw full(send.org);
  }

  function requireRate(org: string): void {
    const rate = rateOf(org, "messagesPerSecond");
    const waitMs = messages.waitMs(org, rate);
    if (waitMs > 0) throw tooMany("messages", rate.perSecond, waitMs);
  }

  /** Charges a message at once, as others arrive while this one waits for the log. */
  function charge(org: string, bytes: number): TellStored {
    const rate = rateOf(org, "messagesPerSecond");
    messages.charge(org, rate, 1);
    const endReservation = limits.reserve(org, bytes);
    return (isStored) => {
      endReservation(isStored);
      if (isStored) messageMeters.note(org);
      else messages.charge(org, rate, -1);
    };
  }

  /**
   * Charges a request of this cost, whatever its key; throws `rate_limited`. `org` is `undefined` if the request names
   * none. One that this node does not know counts as none: see `admitOnceKnown`.
   */
  function admitRequest(org: string | undefined, cost: number): void {
    const name = nameOf(org);
    const rate = rateOf(name, "requestsPerSecond");
    const waitMs = requests.waitMs(name, rate);
    if (waitMs > 0) throw tooMany("requests", rate.perSecond, waitMs);
    requests.charge(name, rate, cost);
    requestMeters.note(name, cost);
  }

  return {
    know: limits.know,
    admitRequest,
    /** Charges a request like `admitRequest`, but waits until this node knows the organization, if it does not yet. */
    admitOnceKnown(org: string | undefined, cost: number): Promise<void> | undefined {
      const asked = org === undefined ? undefined : limits.know(org);
      if (asked !== undefined) return asked.then(() => admitRequest(org, cost));
      admitRequest(org, cost);
      return undefined;
    },
    /** Adds to the cost of a request. */
    chargeRequest(org: string | undefined, cost: number): void {
      const name = nameOf(org);
      requests.charge(name, rateOf(name, "requestsPerSecond"), cost);
      requestMeters.note(name, cost);
    },
    /**
     * Charges a send before it goes to the log, and returns the function to call with the outcome: sends that are not
     * stored cost nothing. Throws `rate_limited`. Only if the organization is full does it ask the log, and then rejects
     * like `requireRoomFor`.
     */
    admitSend(send: NewSend): TellStored | Promise<TellStored> {
      const { org } = send;
      requireRate(org);
      const bytes = bytesOf(send);
      const isRetry = hasRoom(org, bytes) ? undefined : requireRetry(send);
      const end = charge(org, bytes);
      if (isRetry === undefined) return end;
      return isRetry.then(
        () => end,
        (error: unknown) => {
          end(false);
          throw error;
        },
      );
    },
    /**
     * Charges an edit, a recall or a read like a send, and returns the function to call with the outcome. Throws `rate_limited`, and
     * `invalid_request` if it needs room and the organization is full.
     */
    admitChange(org: string, bytes: number): TellStored {
      requireRate(org);
      if (bytes > 0 && !hasRoom(org, bytes)) throw full(org);
      return charge(org, bytes);
    },
    /** Rejects with `invalid_request` if the organization's storage is full, unless the send is a retry of a stored one. */
    async requireRoomFor(send: NewSend): Promise<void> {
      if (!hasRoom(send.org, bytesOf(send))) await requireRetry(send);
    },
    /**
     * Reserves room for bytes about to be stored. `error` says why there is none; call `end` with whether they were stored. `grow`
     * reserves room for more, or returns why there is none.
     */
    reserveRoom(org: string, bytes: number): Room {
      let reserved = 0;
      let end: TellStored = () => undefined;
      const grow = (more: number): HeraldError | undefined => {
        if (!hasRoom(org, more)) return full(org);
        end(false);
        reserved += more;
        end = limits.reserve(org, reserved);
        return undefined;
      };
      return { error: grow(bytes), grow, end: (isStored) => end(isStored) };
    },
    /** Like `requireRoomFor`, for events that are not sends. */
    requireRoom(org: string): void {
      if (!hasRoom(org, 1)) throw full(org);
    },
    ratesOf(org: string): OrganizationRates {
      // A charge may be refunded in the following second.
      return { requests: Math.max(0, requestMeters.of(org)), messages: messageMeters.of(org) };
    },
  };
}

function tooMany(what: "requests" | "messages", perSecond: number, waitMs: number): HeraldError {
  const detail = `this organization may send ${perSecond} ${what} per second`;
  return rateExceeded({ detail, policy: `organization-${what}`, quota: perSecond, windowSeconds: 1, waitMs });
}

/** The approximate bytes a send counts for once stored; user ids that need escaping count for slightly more. */
function bytesOf({ payload, uids }: NewSend): number {
  let bytes = Buffer.byteLength(payload);
  for (const uid of uids ?? []) bytes += Buffer.byteLength(uid) + 3;
  return bytes;
}
