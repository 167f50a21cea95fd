import type { ProblemForm } from "../../contract/errors/problem.ts";
import type { OutageEvents } from "../../lib/observing/outages.ts";
import type { Clock, SteadyClock } from "../../lib/time/clock.ts";
import { createPoller } from "../../lib/time/poller.ts";
import type { RecipientReads } from "../../store/delivery/ports.ts";
import type { OrganizationReads } from "../../store/ports.ts";
import type { WebhookPresenceReads, WebhookPresenceWrites } from "../../store/presence/ports.ts";
import type {
  EventTextReads,
  StoredWebhook,
  UnreachedReads,
  WebhookDeliveryReads,
  WebhookDeliveryWrites,
  WebhookReads,
  WebhookWrites,
} from "../../store/webhooks/ports.ts";
import type { Presence } from "../presence.ts";
import { type Attempt, createAttempt } from "./attempts.ts";
import { createDueEvents } from "./due-events.ts";
import { createHugeEvents } from "./huge-events.ts";
import { createPosting } from "./posting.ts";
import { createPresenceService } from "./presence-service.ts";
import { createUnreachedPages } from "./unreached.ts";
import { createWebhooks } from "./webhooks.ts";

type Dependencies = {
  nodeId: string;
  presence: Pick<Presence, "versionOf" | "everyone">;
  webhookPresence: WebhookPresenceReads & WebhookPresenceWrites;
  webhooks: WebhookReads & WebhookWrites;
  webhookDeliveries: WebhookDeliveryReads & WebhookDeliveryWrites;
  unreached: UnreachedReads & EventTextReads;
  recipients: RecipientReads;
  organizations: Pick<OrganizationReads, "get">;
  allowsPrivate: boolean;
  problemForm?: ProblemForm | undefined;
  clock: Clock;
  elapsed: SteadyClock;
  /** Posts; by default over HTTP. */
  attempt?: Attempt;
  /** As `Math.random`, the default. */
  random?(): number;
  /** Called when a webhook is switched off because its receiver answered 410. */
  onDisabled(hook: Pick<StoredWebhook, "org" | "id">): void;
  onError(error: unknown): void;
};

const pollEveryMs = 800;
// Nodes store their deliveries four times a second, or less often when they are busy.
const settlingMs = 1_000;
// After losing a race, a node leaves the next events to the faster one.
const yieldMs = 150;

/** Creates the webhooks of a node, and the poster, which must be started. */
export function createWebhookService(dependencies: Dependencies) {
  const { webhookDeliveries, elapsed, attempt = createAttempt(dependencies), random = Math.random } = dependencies;
  let isStopped = false;

  const posting = createPosting({ ...dependencies, attempt, random, onRoom: () => tries.wakeIn(0) });
  const hugeEvents = createHugeEvents({
    ...dependencies,
    openPages: createUnreachedPages(dependencies),
    onParts: () => tries.wakeIn(0),
    onRoom: () => events.wakeIn(0),
  });
  const settleSome = createDueEvents({ ...dependencies, hugeEvents });

  async function settleDueEvents(): Promise<number | undefined> {
    while (!isStopped) {
      const { now, eventAt } = await webhookDeliveries.agenda();
      if (eventAt === undefined) return undefined;
      const inMs = eventAt + settlingMs - now;
      if (inMs > 0) return inMs;
      const outcome = await settleSome(now - settlingMs, now);
      if (outcome === "late") return (1 + random()) * yieldMs;
      tries.wakeIn(0);
    }
    return undefined;
  }

  async function postDueTries(): Promise<number | undefined> {
    while (!isStopped) {
      const { now, tryAt } = await webhookDeliveries.agenda();
      if (tryAt === undefined) return undefined;
      if (tryAt > now) return tryAt - now;
      if (!(await posting.takeSome(now))) return undefined; // no room for more; `onRoom` continues
    }
    return undefined;
  }

  const events = createPoller({ poll: settleDueEvents, everyMs: pollEveryMs, elapsed });
  const tries = createPoller({ poll: postDueTries, everyMs: pollEveryMs, elapsed });

  const presence = createPresenceService({ ...dependencies, onPosts: () => tries.wakeIn(0) });

  return {
    hooks: createWebhooks({ ...dependencies, attempt, onDue: () => tries.wakeIn(0) }),
    poster: {
      figures: posting.figures,
      /** Starts to find the users who were not reached, and who come and go, and to post them. */
      start(outages: OutageEvents): void {
        events.start(outages);
        tries.start(outages);
        presence.start(outages);
      },
      /** Starts nothing more. Resolves after the posts in flight. */
      async stop(): Promise<void> {
        isStopped = true;
        await Promise.all([events.stop(), tries.stop(), presence.stop()]);
        await hugeEvents.stop();
        await posting.stop();
      },
    },
  };
}
