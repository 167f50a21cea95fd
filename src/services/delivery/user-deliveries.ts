import { z } from "zod";
import type { DeliveryItem, RecipientState } from "../../contract/delivery.ts";
import { invalidRequest } from "../../contract/errors/errors.ts";
import { toIso, toSeconds } from "../../contract/identifiers.ts";
import type { Limiter } from "../../lib/queues/limiter.ts";
import { encodeCursor } from "../../lib/text/cursor.ts";
import type { AddressedEvent, NewestEvents, UserDeliveryReads } from "../../store/delivery/ports.ts";
import type { Organizations, UserReads } from "../../store/ports.ts";
import { requireUser } from "../directory/directory.ts";
import { requestCosts } from "../limits/costs.ts";
import { type Page, type PageQuery, parseCursor } from "../pages.ts";
import type { Pay } from "./first-deliveries.ts";
import { stateOf } from "./recipients.ts";

type Dependencies = {
  userDeliveries: NewestEvents & UserDeliveryReads;
  users: Pick<UserReads, "get">;
  organizations: Pick<Organizations, "get">;
  /** Reads a few long lists at a time. Organizations take turns. */
  longReads: Pick<Limiter, "run">;
};

/** `after` is the cursor by another name. */
type Query = PageQuery & { after?: string | undefined; state?: RecipientState | undefined };

/** Lists what a user should have, and has. */
export type UserDeliveries = ReturnType<typeof createUserDeliveries>;

const place = z.strictObject({ before: z.int().min(1) });
const mostLooked = 1_000; // for those in one state

/** Creates the lists on the store, in which all nodes record their deliveries. */
export function createUserDeliveries(dependencies: Dependencies) {
  const { userDeliveries: reads, longReads } = dependencies;

  async function tell(org: string, uid: string, offsets: readonly number[]): Promise<(DeliveryItem & Offset)[]> {
    if (offsets.length === 0) return [];
    const events = await reads.addressedAt(org, uid, offsets);
    const [delivered, acknowledged, read] = await Promise.all([
      reads.deliveredAt(org, uid, events),
      reads.acknowledgedAt(org, uid, events),
      reads.readAt(org, uid, events),
    ]);
    return events.map((event) => {
      const { offset } = event;
      const times = {
        delivered: delivered.get(offset),
        acknowledged: acknowledged.get(offset),
        read: read.get(offset),
      };
      return { offset, ...toDelivery(event, times) };
    });
  }

  async function readPage(org: string, uid: string, { limit, state, before }: Pick<Query, "limit" | "state"> & Before) {
    const { offsets, next } = await reads.newestFor(org, uid, {
      before,
      limit: state === undefined ? limit : mostLooked,
    });
    const told = await tell(org, uid, offsets);
    const wanted = told.filter((item) => state === undefined || item.state === state);
    const items = wanted.slice(0, limit);
    // A page that is full ends after its last item.
    return { items, next: wanted.length > limit ? items.at(-1)?.offset : next, looked: offsets.length };
  }

  return {
    /**
     * A page of what was addressed to the user, newest first. It looks at a bounded number of messages, so it may be shorter than
     * `limit`, or empty, without being the last. Throws `user_not_found`.
     */
    async page(
      org: string,
      uid: string,
      { cursor: given, after, ...query }: Query,
      pay: Pay,
    ): Promise<Page<DeliveryItem>> {
      if (given !== undefined && after !== undefined)
        throw invalidRequest("/after", "is `cursor` by another name; give one of them", "the cursor is given twice");
      await requireUser(dependencies, org, uid);
      const before = (parseCursor(after, place, "/after") ?? parseCursor(given, place))?.before;
      const { items, next, looked } = await longReads.run(() => readPage(org, uid, { ...query, before }), { key: org });
      const work = requestCosts.candidates(looked - items.length); // the items are charged with the answer
      if (work > 0) await pay(work);
      const cursor = next === undefined ? null : encodeCursor({ before: next });
      return { items: items.map(({ offset: _, ...item }) => item), cursor };
    },
  };
}

type Offset = { offset: number };
type Before = { before: number | undefined };
type Times = { delivered: number | undefined; acknowledged: number | undefined; read: number | undefined };

function toDelivery({ kind, id, cid, sender, createdAt }: AddressedEvent, times: Times): DeliveryItem {
  // Two senders may have used the acknowledged id, so it counts only for system messages that the user was given.
  const isProven = kind === "message" || times.delivered !== undefined;
  const acknowledged = isProven ? times.acknowledged : undefined;
  return {
    kind,
    id,
    cid: cid ?? null,
    from: sender,
    t: toSeconds(createdAt),
    state: stateOf(times.delivered, acknowledged),
    delivered_at: isoOf(times.delivered),
    acknowledged_at: isoOf(acknowledged),
    read_at: isoOf(times.read),
  };
}

const isoOf = (time: number | undefined) => (time === undefined ? null : toIso(time));
