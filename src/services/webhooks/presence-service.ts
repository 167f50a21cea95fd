import { HeraldError } from "../../contract/errors/errors.ts";
import { joinIds } from "../../lib/text/ids.ts";
import type { SteadyClock } from "../../lib/time/clock.ts";
import { createPoller } from "../../lib/time/poller.ts";
import type { PresencePlace, WebhookPresenceReads, WebhookPresenceWrites } from "../../store/presence/ports.ts";
import type { StoredWebhook, WebhookReads } from "../../store/webhooks/ports.ts";
import type { Presence } from "../presence.ts";
import { createPresenceFollower, type Lease, type PresenceFollower } from "./presence-follower.ts";

type Dependencies = {
  nodeId: string;
  presence: Pick<Presence, "versionOf" | "everyone">;
  webhooks: Pick<WebhookReads, "among">;
  webhookPresence: WebhookPresenceReads & WebhookPresenceWrites;
  elapsed: SteadyClock;
  /** Called when there are new deliveries. */
  onPosts(): void;
};

const lookEveryMs = 1_000;
// A node that has died is replaced after this time.
const holdMs = 15_000;
const renewAfterMs = 5_000;
const mostFollowed = 1_000;
// Nodes share the webhooks: each takes over a few at a time.
const takenAtOnce = 5;
// Looking at an organization with very many users takes long: it may take this share of the time. A look that took long for
// another reason, as the node or the database stood still, must not be the last one for minutes.
const restsPerLook = 9;
const longestRestMs = 30_000;
const forgottenAtOnce = 2_000;

type Followed = { follower: PresenceFollower; restsUntil: number };

/**
 * Creates what tells webhooks who comes and goes. One node at a time follows a webhook, by a lease in the database. Each commit of
 * parts checks that the lease is its node's and that `seq` is the last one, so that there is one sequence, whoever tells it.
 */
export function createPresenceService(dependencies: Dependencies) {
  const { nodeId: holder, webhooks, webhookPresence, elapsed, onPosts } = dependencies;
  const followed = new Map<string, Followed>();
  let isStopped = false;

  /** Holds the webhook; resolves with its follower, or nothing if another node was faster. */
  async function hold(hook: StoredWebhook, place: PresencePlace, lease: Lease): Promise<Followed | undefined> {
    const key = joinIds(place.org, place.webhook);
    const known = followed.get(key);
    if (known !== undefined && place.holder === holder && place.heldUntil - lease.now() > holdMs - renewAfterMs)
      return known;
    const seq = await webhookPresence.hold(place, { holder, now: lease.now(), until: lease.until() });
    if (seq === undefined) return undefined;
    // Without a break in the lease, nobody else has told anything.
    const isKept = known !== undefined && place.holder === holder && place.seq === seq;
    const current = isKept
      ? known
      : { follower: createPresenceFollower({ ...dependencies, holder }, hook, seq), restsUntil: 0 };
    followed.set(key, current);
    return current;
  }

  /** False if a node does not answer, or the database: it is asked again. */
  async function canLook(follower: PresenceFollower, lease: Lease): Promise<boolean> {
    try {
      await follower.look(lease.now());
      return true;
    } catch (error) {
      if (error instanceof HeraldError && error.code === "unavailable") return false;
      throw error;
    }
  }

  async function follow(hook: StoredWebhook, place: PresencePlace, lease: Lease): Promise<void> {
    const key = joinIds(place.org, place.webhook);
    const current = await hold(hook, place, lease);
    if (current === undefined) return void followed.delete(key);
    const beganAt = elapsed.now();
    if (beganAt < current.restsUntil) return;
    if (!(await canLook(current.follower, lease))) return;
    const lookedAt = elapsed.now();
    followed.delete(key); // unless it ends well
    const posts = await current.follower.tell(hook.waitMs, lease);
    if (posts === undefined) return;
    followed.set(key, current);
    if (posts > 0) onPosts();
    const restsMs = Math.min(longestRestMs, restsPerLook * (lookedAt - beganAt));
    current.restsUntil = elapsed.now() + restsMs - lookEveryMs;
  }

  async function visit(place: PresencePlace, hook: StoredWebhook | undefined, lease: Lease): Promise<void> {
    if (hook === undefined) while (!isStopped && (await webhookPresence.forget(place, forgottenAtOnce)));
    else if (hook.disabledAt === null && hook.events.includes("users.presence")) await follow(hook, place, lease);
    else followed.delete(joinIds(place.org, place.webhook));
  }

  /** Visits the webhooks of this node, and a few that no node holds. */
  async function look(): Promise<undefined> {
    const beganAt = elapsed.now();
    const { now, places } = await webhookPresence.followed(holder, mostFollowed);
    const lease: Lease = {
      isOver: () => isStopped,
      now: () => Math.round(now + elapsed.now() - beganAt),
      until: () => lease.now() + holdMs,
    };
    const own = places.filter((place) => place.holder === holder);
    const free = places.filter((place) => place.holder !== holder).slice(0, takenAtOnce);
    const visited = [...own, ...free];
    const kept = new Set(own.map(({ org, webhook }) => joinIds(org, webhook)));
    for (const key of followed.keys()) if (!kept.has(key)) followed.delete(key);
    if (visited.length === 0) return;
    const orgs = [...new Set(visited.map(({ org }) => org))];
    const found = await webhooks.among(
      orgs,
      visited.map(({ webhook }) => webhook),
    );
    const hookOf = new Map(found.map((hook) => [hook.ref, hook]));
    const failures: unknown[] = [];
    for (const place of visited) {
      if (isStopped) return;
      await visit(place, hookOf.get(place.webhook), lease).catch((error) => failures.push(error));
    }
    if (failures.length > 0) throw failures[0];
  }

  const poller = createPoller({ poll: look, everyMs: lookEveryMs, elapsed });
  return {
    start: poller.start,
    /** Stops after the current commit, and lets other nodes take over at once. */
    async stop(): Promise<void> {
      isStopped = true;
      await poller.stop();
      if (followed.size > 0) await webhookPresence.release(holder);
      followed.clear();
    },
  };
}
