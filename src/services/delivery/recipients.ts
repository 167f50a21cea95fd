import { z } from "zod";
import type { Recipient, RecipientState } from "../../contract/delivery.ts";
import { HeraldError } from "../../contract/errors/errors.ts";
import { quoted } from "../../contract/errors/naming.ts";
import { toIso } from "../../contract/identifiers.ts";
import { addressOf } from "../../contract/log/log-event.ts";
import type { Limiter } from "../../lib/queues/limiter.ts";
import { rowsOfStatement } from "../../lib/queues/steps.ts";
import { encodeCursor } from "../../lib/text/cursor.ts";
import type { SteadyClock } from "../../lib/time/clock.ts";
import type { RecipientReads, SentEvent, SentReads, StayPlace } from "../../store/delivery/ports.ts";
import type { Organizations } from "../../store/ports.ts";
import { requestCosts } from "../limits/costs.ts";
import { type Page, type PageQuery, parseCursor } from "../pages.ts";
import { createFirstDeliveries, type Pay } from "./first-deliveries.ts";
import { createSentEvents } from "./sent-events.ts";
import type { UserTimes } from "./user-times.ts";

/** The paging parameters of recipients, and the state to list; all by default. */
export type RecipientQuery = PageQuery & { state?: RecipientState | undefined };

/** Lists the recipients of what was sent. Throws like `DeliveryReports`. */
export type Recipients = ReturnType<typeof createRecipients>;

type Dependencies = {
  recipients: RecipientReads;
  sent: SentReads;
  organizations: Pick<Organizations, "get">;
  /** Reads a few long lists at a time. Organizations take turns. */
  longReads: Pick<Limiter, "run">;
  steadyClock: SteadyClock;
};

/** `proves`: whether a receipt counts although no delivery is known, as it names this event alone. */
type Of = { org: string; event: SentEvent; proves: boolean };

/** A user who may be a recipient, and the place after which the next page begins. */
type Candidate<Place> = { uid: string; isRecipient: boolean; place: Place };

/** The users among whom the recipients of an event are found, in a stable order. */
type Candidates<Place> = {
  place: z.ZodType<Place>;
  /** Reads at most `limit` candidates after a place, or from the beginning; fewer at the end. */
  read(after: Place | undefined, limit: number): Promise<Candidate<Place>[]>;
};

const stayPlace = z.strictObject({ uid: z.string(), after: z.int().min(0) });
const listPlace = z.strictObject({ index: z.int().min(0) });
const candidatesPerPage = 3_000;
const noPage: Page<Recipient> = { items: [], cursor: null };
const toEveryone =
  "a system message to everyone, which has no list of recipients; `GET …/system-messages/{mid}` returns their number";

/** Creates the lists of recipients on the store, in which all nodes record their deliveries. */
export function createRecipients(dependencies: Dependencies) {
  const { recipients: reads, longReads, steadyClock } = dependencies;
  const sentEvents = createSentEvents(dependencies);
  const findFirstDeliveries = createFirstDeliveries({ reads, longReads, clock: steadyClock });

  /** The items of some candidates, in order; `undefined` for those who are not asked for. */
  async function tell(
    { org, event, proves }: Of,
    candidates: readonly Candidate<unknown>[],
    times: Pick<UserTimes, "find">,
    state: RecipientState | undefined,
  ): Promise<(Recipient | undefined)[]> {
    const delivered = await times.find(candidates.map(({ uid }) => uid));
    // Receipts are looked up only for those who may be asked for.
    const mayBe = ({ uid, isRecipient }: Candidate<unknown>) => {
      if (!isRecipient || (state === "delivered" && !delivered.has(uid))) return false;
      return state !== "missing" || !delivered.has(uid);
    };
    const asked = candidates.filter(mayBe).map(({ uid }) => uid);
    const receipts = await reads.acknowledgedAt({ org, id: event.id }, asked);
    return candidates.map((candidate) => {
      const { uid } = candidate;
      if (!mayBe(candidate)) return undefined;
      const receipt = delivered.has(uid) || proves ? receipts.get(uid) : undefined;
      const item = toRecipient(uid, delivered.get(uid), receipt);
      return state === undefined || item.state === state ? item : undefined;
    });
  }

  /**
   * A page of recipients. It looks at a bounded number of candidates, so a page may be shorter than `limit`, or empty,
   * without being the last.
   */
  async function pageOf<Place>(
    of: Of,
    candidates: Candidates<Place>,
    { limit, state, cursor }: RecipientQuery,
    pay: Pay,
  ): Promise<Page<Recipient>> {
    let place = parseCursor(cursor, candidates.place);
    const times = await findFirstDeliveries(of.org, of.event, pay);
    const items: Recipient[] = [];
    let seen = 0;
    let isLast = false;

    async function look(): Promise<void> {
      const count = state === undefined && seen === 0 ? limit + 1 : rowsOfStatement;
      const some = await candidates.read(place, count);
      const told = await tell(of, some, times, state);
      isLast = some.length < count;
      for (const [index, candidate] of some.entries()) {
        const item = told[index];
        if (item !== undefined && items.length === limit) {
          isLast = false;
          break;
        }
        if (item !== undefined) items.push(item);
        place = candidate.place;
        seen++;
      }
    }

    while (!isLast && items.length < limit && seen < candidatesPerPage) await look();
    const work = requestCosts.candidates(seen - items.length); // the items are charged with the answer
    if (work > 0) await pay(work);
    return { items, cursor: isLast ? null : encodeCursor(place) };
  }

  return {
    async message(org: string, serverMid: string, query: RecipientQuery, pay: Pay) {
      const event = await sentEvents.message(org, serverMid);
      const { cid, offset } = event;
      if (offset < 0) return { page: noPage, cid }; // imported messages were sent to nobody
      const candidates = participantsOf(reads, { org, cid, offset });
      return { page: await pageOf({ org, event, proves: true }, candidates, query, pay), cid };
    },
    /** Throws `not_found` for a system message to everyone, which has no list. */
    async systemMessage(
      org: string,
      mid: string,
      { senderId, ...query }: RecipientQuery & { senderId?: string | undefined },
      pay: Pay,
    ) {
      const event = await sentEvents.systemMessage(org, mid, senderId);
      const { cid = "", offset, uids = [], sender } = event;
      // Two senders may have used the acknowledged id, so it counts only for messages that the user was given.
      const of = { org, event, proves: false };
      switch (addressOf(event)) {
        case "users":
          return { page: await pageOf(of, namedIn(uids), query, pay), sender };
        case "conversation":
          return { page: await pageOf(of, participantsOf(reads, { org, cid, offset }), query, pay), sender };
        case "everyone":
          throw new HeraldError("not_found", `${quoted(mid)} is ${toEveryone}`);
      }
    },
  };
}

/** Everyone who has ever taken part in a conversation: recipients are those who did at `offset`. */
function participantsOf(
  reads: Pick<RecipientReads, "stays">,
  { org, cid, offset }: { org: string; cid: string; offset: number },
): Candidates<StayPlace> {
  return {
    place: stayPlace,
    async read(place, limit) {
      const stays = await reads.stays(org, cid, place, limit);
      return stays.map(({ uid, after, upTo = Number.POSITIVE_INFINITY }) => ({
        uid,
        isRecipient: after < offset && offset <= upTo,
        place: { uid, after },
      }));
    },
  };
}

/** The users that a system message names, in its order. */
function namedIn(uids: readonly string[]): Candidates<z.infer<typeof listPlace>> {
  return {
    place: listPlace,
    async read(place, limit) {
      const start = place === undefined ? 0 : place.index + 1;
      const some = uids.slice(start, start + limit);
      return some.map((uid, index) => ({ uid, isRecipient: true, place: { index: start + index } }));
    },
  };
}

/** What is known about a recipient, by when a message was delivered to and acknowledged by the user. */
export function stateOf(deliveredAt: number | undefined, acknowledgedAt: number | undefined): RecipientState {
  if (acknowledgedAt !== undefined) return "acknowledged";
  return deliveredAt === undefined ? "missing" : "delivered";
}

function toRecipient(uid: string, deliveredAt: number | undefined, acknowledgedAt: number | undefined): Recipient {
  return {
    uid,
    state: stateOf(deliveredAt, acknowledgedAt),
    delivered_at: deliveredAt === undefined ? null : toIso(deliveredAt),
    acknowledged_at: acknowledgedAt === undefined ? null : toIso(acknowledgedAt),
  };
}
