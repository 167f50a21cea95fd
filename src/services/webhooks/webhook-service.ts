import type { OutageEvents } from "../../lib/observing/outages.ts";
import type { Clock } from "../../lib/time/clock.ts";
import type { RecipientReads } from "../../store/delivery/ports.ts";
import type { OrganizationReads } from "../../store/ports.ts";
import type {
  EventTextReads,
  StoredWebhook,
  UnreachedReads,
  WebhookDeliveryReads,
  WebhookDeliveryWrites,
  WebhookReads,
  WebhookWrites,
} from "../../store/webhooks/ports.ts";
import { type Attempt, createAttempt } from "./attempts.ts";
import { createClockwork } from "./clockwork.ts";
import { createDueEvents } from "./due-events.ts";
import { createHugeEvents } from "./huge-events.ts";
import { createPosting, type PostFigures } from "./posting.ts";
import { createUnreachedPages } from "./unreached-pages.ts";
import { createWebhooks, type Webhooks } from "./webhooks.ts";

/** Everything about webhooks on one node. */
export type WebhookService = {
  hooks: Webhooks;
  poster: {
    figures: PostFigures;
    /** Begins to find out who was not reached, and to post it. */
    start(observers: Observers): void;
    /** Begins nothing more; resolves after the posts that are under way. */
    stop(): Promise<void>;
  };
};

type Observers = {
  outages: OutageEvents;
  /** Called when a receiver has switched its webhook off. */
  onDisabled(hook: Pick<StoredWebhook, "org" | "id">): void;
  onError(error: unknown): void;
};

type Dependencies = {
  webhooks: WebhookReads & WebhookWrites;
  webhookDeliveries: WebhookDeliveryReads & WebhookDeliveryWrites;
  unreached: UnreachedReads & EventTextReads;
  recipients: RecipientReads;
  organizations: Pick<OrganizationReads, "get">;
  allowsPrivate: boolean;
  /** Whether several organizations are active on this node, so that this work rests most of the time. */
  isShared?(): boolean;
  clock: Clock;
  /** A clock that never goes back. */
  elapsed: Clock;
  attempt?: Attempt;
  random?(): number;
};

const lookEveryMs = 800;
// Nodes store what they have delivered four times a second, and later when they are busy.
const settlingMs = 1_000;
// While organizations share the node, work comes in small pieces, and a rest follows each, of this many times its length.
const sharedRest = { times: 3, atMostMs: 200 };
// A node that was slower than another leaves the next ones to it.
const yieldMs = 150;

/** Creates the webhooks of a node, and what posts to them once it is started. */
export function createWebhookService(given: Dependencies): WebhookService {
  const { allowsPrivate, isShared = () => false, elapsed, random = Math.random } = given;
  const { claim, finish, settleParts } = given.webhookDeliveries;
  const webhookDeliveries: Dependencies["webhookDeliveries"] = {
    ...given.webhookDeliveries,
    claim: (...args) => inTurn(() => claim(...args)),
    finish: (...args) => inTurn(() => finish(...args)),
    settleParts: (...args) => inTurn(() => settleParts(...args)),
  };
  const dependencies = { ...given, webhookDeliveries, isShared };
  const attempt = given.attempt ?? createAttempt({ allowsPrivate, elapsed });
  let observers: Observers | undefined;
  let isStopped = false;

  const posting = createPosting({
    ...dependencies,
    attempt,
    random,
    onRoom: () => tries.wakeIn(0),
    onDisabled: (hook) => observers?.onDisabled(hook),
    onError: (error) => observers?.onError(error),
  });
  const hugeEvents = createHugeEvents({
    ...dependencies,
    pages: createUnreachedPages({ ...dependencies, inTurn }),
    onParts: () => tries.wakeIn(0),
    onRoom: () => events.wakeIn(0),
    onError: (error) => observers?.onError(error),
  });
  const dueEvents = createDueEvents({ ...dependencies, hugeEvents });

  /** Does a piece of work, and rests after it while organizations share the node, so that there is time for others. */
  async function rested<Result>(work: () => Promise<Result>): Promise<Result> {
    const begunAt = elapsed.now();
    const result = await work();
    const tookMs = elapsed.now() - begunAt;
    if (isShared()) await Bun.sleep(Math.min(sharedRest.times * tookMs, sharedRest.atMostMs));
    return result;
  }

  let turn = Promise.resolve();

  /** Does one such piece after the other while organizations share the node; otherwise, all at once. */
  async function inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
    if (!isShared()) return await work();
    const before = turn;
    const { promise, resolve: end } = Promise.withResolvers<void>();
    turn = promise;
    await before;
    try {
      return await rested(work);
    } finally {
      end();
    }
  }

  async function lookAtEvents(): Promise<number | undefined> {
    while (!isStopped) {
      const { now, eventAt } = await webhookDeliveries.agenda();
      if (eventAt === undefined) return undefined;
      const inMs = eventAt + settlingMs - now;
      if (inMs > 0) return inMs;
      const outcome = await rested(() => dueEvents.settleSome(now - settlingMs, now));
      if (outcome === "late") return (1 + random()) * yieldMs;
      tries.wakeIn(0);
    }
    return undefined;
  }

  async function lookAtTries(): Promise<number | undefined> {
    while (!isStopped) {
      const { now, tryAt } = await webhookDeliveries.agenda();
      if (tryAt === undefined) return undefined;
      if (tryAt > now) return tryAt - now;
      if (!(await posting.takeSome(now))) return undefined; // there is no room for what is due
    }
    return undefined;
  }

  const events = createClockwork({ look: lookAtEvents, everyMs: lookEveryMs, elapsed });
  const tries = createClockwork({ look: lookAtTries, everyMs: lookEveryMs, elapsed });

  return {
    hooks: createWebhooks({ ...dependencies, attempt, onDue: () => tries.wakeIn(0) }),
    poster: {
      figures: posting.figures,
      start(watching) {
        observers = watching;
        events.start(watching.outages);
        tries.start(watching.outages);
      },
      async stop() {
        isStopped = true;
        await Promise.all([events.stop(), tries.stop()]);
        await hugeEvents.stop();
        await posting.stop();
      },
    },
  };
}
