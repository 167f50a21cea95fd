import { pauseAfter } from "../../lib/queues/steps.ts";
import type { PresencePart, WebhookPresenceReads, WebhookPresenceWrites } from "../../store/presence/ports.ts";
import type { StoredWebhook } from "../../store/webhooks/ports.ts";
import type { Presence } from "../presence.ts";
import { presencePartsOf } from "./presence-parts.ts";

/** Times by the database's clock: now, and when a lease that is renewed now ends. `isOver`: whether the node stops. */
export type Lease = { now(): number; until(): number; isOver(): boolean };

type Dependencies = {
  holder: string;
  presence: Pick<Presence, "versionOf" | "everyone">;
  webhookPresence: Pick<WebhookPresenceReads, "told"> & Pick<WebhookPresenceWrites, "tell">;
};

type Place = Pick<StoredWebhook, "org" | "ref">;

/** Follows who comes and goes for one webhook, while this node holds it. */
export type PresenceFollower = ReturnType<typeof createPresenceFollower>;

/**
 * Creates the follower of a webhook that has been told up to `toldTo`. Memory: the ids of all users who are online, twice. Who is gone
 * is told after the wait of the webhook, counted from when this node missed them.
 */
export function createPresenceFollower(
  { holder, presence, webhookPresence }: Dependencies,
  place: Place,
  toldTo: number,
) {
  let seq = toldTo;
  const queue = { org: place.org, webhook: place.ref };
  const leftAt = new Map<string, number>(); // who was told to be online and is not, the longest gone first
  let told: Set<string> | undefined;
  let online = new Set<string>();
  let version: string | undefined;

  /** Looks who is connected, unless nobody has come or gone since the last look. */
  async function look(now: number): Promise<void> {
    told ??= await webhookPresence.told(queue);
    const current = await presence.versionOf(place.org);
    if (current !== undefined && current === version) return;
    ({ uids: online, version } = await presence.everyone(place.org));
    for (const uid of told) if (!online.has(uid) && !leftAt.has(uid)) leftAt.set(uid, now);
    for (const uid of leftAt.keys()) if (online.has(uid)) leftAt.delete(uid);
  }

  function* gone(before: number): Generator<string, void> {
    for (const [uid, at] of leftAt) {
      if (at > before) return;
      yield uid;
    }
  }

  function* come(known: ReadonlySet<string>): Generator<string, void> {
    for (const uid of online) if (!known.has(uid)) yield uid;
  }

  async function store(known: Set<string>, part: PresencePart, { now, until }: Lease): Promise<boolean> {
    if (!(await webhookPresence.tell(queue, { holder, seq, now: now(), until: until(), part }))) return false;
    seq++;
    for (const uid of part.online) known.add(uid);
    for (const uid of part.offline) {
      known.delete(uid);
      leftAt.delete(uid);
    }
    return true;
  }

  return {
    look,
    /**
     * Tells what had changed by the last look. Returns the number of posts, or `undefined` if another node has taken over. If it rejects,
     * the outcome is unknown, and the follower must be created again.
     */
    async tell(waitMs: number, lease: Lease): Promise<number | undefined> {
      const known = told ?? new Set();
      // All parts are made before the sets change that they are made of: what they name is in memory anyway.
      const parts = [...presencePartsOf({ online: come(known), offline: gone(lease.now() - waitMs) })];
      if (seq === 0 && parts.length === 0) parts.push({ online: [], offline: [] });
      for (const [index, part] of parts.entries()) {
        const beganAt = lease.now();
        if (lease.isOver() || !(await store(known, part, lease))) return undefined;
        if (index < parts.length - 1) await Bun.sleep(pauseAfter(lease.now() - beganAt)); // for the sends of others
      }
      return parts.length;
    },
  };
}
