import type { ProblemForm } from "../../contract/errors/problem.ts";
import { keptMs } from "../../contract/webhooks/kept.ts";
import type { Unreached } from "../../contract/webhooks/payloads.ts";
import { firstWithin } from "../../lib/queues/first-within.ts";
import { joinIds } from "../../lib/text/ids.ts";
import type { SteadyClock } from "../../lib/time/clock.ts";
import type {
  EventName,
  EventText,
  EventTextReads,
  StoredWebhook,
  TriedDelivery,
  UnreachedReads,
  WebhookDelivery,
  WebhookDeliveryReads,
  WebhookDeliveryWrites,
  WebhookReads,
  WebhookTry,
  WebhookWrites,
} from "../../store/webhooks/ports.ts";
import { type Attempt, wantsNoMore } from "./attempts.ts";
import { createLanes } from "./lanes.ts";
import { noticePayloadOf, undeliverableOf } from "./notices.ts";
import { deliveriesOfCommit, payloadOf } from "./payloads.ts";
import { createResults } from "./results.ts";
import { nextTryAt } from "./tries.ts";

/** The posts of this node by their result; `givenUp` counts deliveries whose last try failed. */
export type PostFigures = { delivered: number; failed: number; givenUp: number; disabled: number };

type Dependencies = {
  webhooks: Pick<WebhookReads & WebhookWrites, "among" | "disable">;
  webhookDeliveries: Pick<WebhookDeliveryReads & WebhookDeliveryWrites, "queues" | "claim" | "finish" | "postpone">;
  unreached: EventTextReads & Pick<UnreachedReads, "users">;
  attempt: Attempt;
  problemForm?: ProblemForm | undefined;
  elapsed: SteadyClock;
  random(): number;
  /** Called when there is room for more. */
  onRoom(): void;
  /** Called when a webhook is switched off because its receiver answered 410. */
  onDisabled(hook: StoredWebhook): void;
  onError(error: unknown): void;
};

type ClaimPlace = { now: number; claimedAt: number };
type Job = { delivery: WebhookDelivery; hook: StoredWebhook; body: string } & ClaimPlace;

const queuesAtOnce = 50;
// A claim expires in case its node dies. A post takes 15 s at most, and starts only while its claim is young enough.
const claimMs = 40_000;
const beginWithinMs = 20_000;
const lookAtDisabledAgainMs = 3_600_000;
// The users of a delivery this young need not be checked again.
const freshMs = 2_000;
const textsAtOnce = 100;
const mostOfTheirUsers = 100_000; // characters: some 3,000 users, who may have to be looked up
const stopMayTakeMs = 4_000;

/** Creates the posting of due deliveries. Every node claims some of them and posts those. */
export function createPosting(dependencies: Dependencies) {
  const { webhooks, webhookDeliveries, unreached, attempt, problemForm, elapsed, random, onDisabled, onError } =
    dependencies;
  const figures: PostFigures = { delivered: 0, failed: 0, givenUp: 0, disabled: 0 };
  const results = createResults({ store: webhookDeliveries.finish, onError });
  const lanes = createLanes<Job>({ run, onRoom: dependencies.onRoom });

  async function run({ delivery, hook, body, claimedAt, now }: Job): Promise<{ isGood: boolean; durationMs: number }> {
    const waitedMs = Math.round(elapsed.now() - claimedAt);
    if (waitedMs > beginWithinMs) return { isGood: false, durationMs: 0 }; // its claim expires soon, and another node may take it
    const { retryAfterMs, ...tried } = await attempt(hook, { id: delivery.id, body, now: now + waitedMs });
    const isGood = tried.error === null;
    figures[isGood ? "delivered" : "failed"]++;
    if (wantsNoMore(tried)) await switchOff(hook, now + waitedMs);
    const result = resultOf(delivery, tried, (tries, at) => nextTryAt(tries, at, { random, retryAfterMs }));
    if (result.state === "failed") figures.givenUp++;
    const undeliverable = result.state === "failed" ? undeliverableOf(result, hook, body) : undefined;
    await results.add({ ...result, undeliverable });
    return { isGood, durationMs: tried.durationMs };
  }

  /** Resolves once no post is in flight and every result is stored. */
  const settled = () => results.drain(() => lanes.held === 0);

  async function switchOff(hook: StoredWebhook, now: number): Promise<void> {
    lanes.clear(hook.ref);
    try {
      if (!(await webhooks.disable(hook.org, hook.ref, now))) return;
      figures.disabled++;
      onDisabled(hook);
    } catch (error) {
      onError(error); // the next post is answered 410, too, and switches it off
    }
  }

  /** Claims deliveries of a webhook that is on. */
  async function claimOf(hook: StoredWebhook, now: number): Promise<WebhookDelivery[]> {
    const limit = Math.min(lanes.roomOf(hook.ref), deliveriesOfCommit);
    if (limit === 0) return [];
    const queue = { org: hook.org, webhook: hook.ref };
    return await webhookDeliveries.claim(queue, { now, until: now + claimMs, limit });
  }

  async function enqueue(claimed: readonly WebhookDelivery[], hooks: Map<string, StoredWebhook>, place: ClaimPlace) {
    const isFresh = ({ createdAt }: WebhookDelivery) => place.now - createdAt < freshMs;
    for (let left = claimed; left.length > 0; ) {
      // A bounded number of texts and of users at a time.
      const some = firstWithin(left.slice(0, textsAtOnce), ({ unreached }) => unreached.length, mostOfTheirUsers);
      left = left.slice(some.length);
      const old = some.filter((one) => one.notice === undefined && !isFresh(one));
      const [texts, current] = await Promise.all([
        unreached.texts(distinctEvents(some)),
        old.length === 0 ? new Map<string, WebhookDelivery>() : withoutDeletedUsers(unreached, old),
      ]);
      const textOf = new Map(texts.map((text) => [text.id, text]));
      for (const delivery of some) {
        const hook = hooks.get(delivery.webhook);
        if (hook === undefined) continue;
        const known = isFresh(delivery) ? delivery : current.get(delivery.id);
        const body = noticePayloadOf(delivery, problemForm) ?? bodyOf(textOf.get(delivery.eventId ?? ""), known);
        if (body === undefined)
          void results.add(cancelled(delivery, place.now)); // resolves after a commit, and never rejects
        else lanes.add(hook.org, hook.ref, [{ delivery, hook, body, ...place }]);
      }
    }
  }

  return {
    figures,
    /** Claims what is due by `now`, on the database's clock, as far as there is room. Returns whether anything was due. */
    async takeSome(now: number): Promise<boolean> {
      const claimedAt = elapsed.now();
      const queues = await webhookDeliveries.queues(now, { busy: lanes.busy(), limit: queuesAtOnce });
      const orgs = [...new Set(queues.map(({ org }) => org))];
      const refs = queues.map(({ webhook }) => webhook);
      const found = await webhooks.among(orgs, refs);
      const hooks = new Map(found.map((hook) => [hook.ref, hook]));
      const claimed: WebhookDelivery[] = [];
      for (const queue of queues) {
        const hook = hooks.get(queue.webhook);
        if (hook === undefined) await webhookDeliveries.postpone(queue, undefined);
        else if (hook.disabledAt !== null) await webhookDeliveries.postpone(queue, now + lookAtDisabledAgainMs);
        else claimed.push(...(await claimOf(hook, now)));
      }
      if (claimed.length > 0) await enqueue(claimed, hooks, { now, claimedAt });
      return queues.length > 0;
    },
    settled,
    /** Starts no more posts. Resolves once every result is stored. Other nodes post the rest. */
    async stop(): Promise<void> {
      lanes.clear();
      await Promise.race([settled(), Bun.sleep(stopMayTakeMs)]);
      results.close();
    },
  };
}

/** The delivery after a try. `nextTryAt` takes the number of tries and when the last one ended; `undefined` means no more. */
function resultOf(
  delivery: WebhookDelivery,
  tried: WebhookTry,
  nextTryAt: (tries: number, now: number) => number | undefined,
): TriedDelivery {
  const tries = delivery.tries + 1;
  const now = tried.at + tried.durationMs;
  const again = tried.error === null || wantsNoMore(tried) ? undefined : nextTryAt(tries, now);
  const state = tried.error === null ? "delivered" : again === undefined ? "failed" : "waiting";
  const expiresAt = state === "waiting" ? delivery.expiresAt : now + keptMs[state];
  return { ...delivery, state, tries, nextTryAt: again ?? null, lastTry: tried, expiresAt };
}

/** What is posted about an event; `undefined` if there is nothing left to tell. */
function bodyOf(text: EventText | undefined, delivery: WebhookDelivery | undefined): string | undefined {
  return text === undefined || text.payload === "" || delivery === undefined ? undefined : payloadOf(text, delivery);
}

/**
 * The deliveries by id, without users who were deleted since: receivers never see those, however late they come back. A delivery
 * with no users left is missing.
 */
async function withoutDeletedUsers(
  reads: Pick<UnreachedReads, "users">,
  deliveries: readonly WebhookDelivery[],
): Promise<Map<string, WebhookDelivery>> {
  const listed = deliveries.map((delivery) => ({ delivery, users: usersOf(delivery) }));
  const named = new Map(
    listed.flatMap(({ delivery: { org }, users }) => users.map(({ uid }) => [joinIds(org, uid), { org, uid }])),
  );
  const known = new Set((await reads.users([...named.values()])).map(({ org, uid }) => joinIds(org, uid)));
  const left = new Map<string, WebhookDelivery>();
  for (const { delivery, users } of listed) {
    const current = users.filter(({ uid }) => known.has(joinIds(delivery.org, uid)));
    if (current.length === users.length) left.set(delivery.id, delivery);
    else if (current.length > 0) left.set(delivery.id, { ...delivery, unreached: JSON.stringify(current) });
  }
  return left;
}

function usersOf({ unreached }: WebhookDelivery): Unreached[] {
  return JSON.parse(unreached);
}

function cancelled(delivery: WebhookDelivery, now: number): TriedDelivery {
  return { ...delivery, state: "cancelled", nextTryAt: null, expiresAt: now + keptMs.cancelled };
}

function distinctEvents(deliveries: readonly WebhookDelivery[]): EventName[] {
  const named = deliveries.flatMap(({ org, eventId }) => (eventId === null ? [] : [{ org, id: eventId }]));
  return [...new Map(named.map((event) => [event.id, event])).values()];
}
