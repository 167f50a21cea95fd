import type { ActivityBus } from "../bus/bus.ts";
import { HeraldError } from "../contract/errors/errors.ts";
import type { Owner } from "../lib/owner.ts";
import { rowsOfStatement } from "../lib/queues/steps.ts";
import { joinIds } from "../lib/text/ids.ts";
import type { Clock } from "../lib/time/clock.ts";
import type { Acquaintances } from "../services/directory/acquaintances.ts";
import type { Presence } from "../services/presence.ts";

/** A connection that subscribes to a user's activity. */
export type ActivityListener = {
  readonly org: string;
  readonly uid: string;
  readonly owner: Owner;
  /** Writes frames, in order, to this connection only. */
  write(frames: string[]): void;
};

/** What the activity of users needs of its node. */
export type ActivityParts = {
  bus: Pick<ActivityBus, "followActivity">;
  presence: Pick<Presence, "onlineAmong">;
  acquaintances: Pick<Acquaintances, "idsAmong" | "lastSeen" | "lastSeenAmong">;
  clock: Clock;
  onError(error: unknown): void;
};

/** A user with subscribers; `isOnline` is `undefined` until all nodes have answered once. */
type Followed = {
  readonly org: string;
  readonly uid: string;
  isOnline: boolean | undefined;
  /** The subscribers, and whether each has its answer: before that, it is sent no notification. */
  readonly listeners: Map<ActivityListener, boolean>;
  /** Settles when all nodes have been asked about the user next. */
  look: PromiseWithResolvers<void> | undefined;
  stop(): void;
};

/**
 * Creates the activity of users for one node's connections. A notification of another node is only a reason to ask all of them,
 * one question at a time for each organization, so that answers are never applied out of order.
 */
export function createActivity({ bus, presence, acquaintances, clock, onError }: ActivityParts) {
  const followed = new Map<string, Followed>();
  const subscriptions = new Map<ActivityListener, { user: Followed; letGo(): void }>();
  const waiting = new Map<string, Set<Followed>>();
  const asking = new Set<string>();

  function follow(org: string, uid: string): Followed {
    const known = followed.get(joinIds(org, uid));
    if (known !== undefined) return known;
    const user: Followed = { org, uid, isOnline: undefined, listeners: new Map(), look: undefined, stop };
    const stopHearing = bus.followActivity({ org, uid }, () => void look(user).catch(tellUnexpected));
    function stop(): void {
      stopHearing();
      followed.delete(joinIds(org, uid));
    }
    followed.set(joinIds(org, uid), user);
    return user;
  }

  function unsubscribe(listener: ActivityListener): void {
    const subscription = subscriptions.get(listener);
    if (subscription === undefined) return;
    subscriptions.delete(listener);
    subscription.letGo();
    const { user } = subscription;
    user.listeners.delete(listener);
    if (user.listeners.size === 0) user.stop();
  }

  /** Asks all nodes about the user. The answer includes everything committed or published before. */
  function look(user: Followed): Promise<void> {
    user.look ??= Promise.withResolvers();
    const { promise } = user.look;
    waiting.set(user.org, (waiting.get(user.org) ?? new Set()).add(user));
    if (!asking.has(user.org)) ask(user.org).catch(onError);
    return promise;
  }

  function takeSome(org: string): { user: Followed; look: PromiseWithResolvers<void> | undefined }[] {
    const all = waiting.get(org) ?? new Set();
    const some = [...all.values().take(rowsOfStatement)];
    for (const user of some) all.delete(user);
    if (all.size === 0) waiting.delete(org);
    return some.map((user) => {
      const { look } = user;
      user.look = undefined;
      return { user, look };
    });
  }

  async function ask(org: string): Promise<void> {
    asking.add(org);
    try {
      for (let some = takeSome(org); some.length > 0; some = takeSome(org)) {
        try {
          const online = await presence.onlineAmong(
            org,
            some.map(({ user }) => user.uid),
          );
          for (const { user, look } of some) {
            await tell(user, online.has(user.uid));
            look?.resolve();
          }
        } catch (error) {
          for (const { look } of some) look?.reject(error);
        }
      }
    } finally {
      asking.delete(org);
    }
  }

  /** Notifies the subscribers who still share a conversation with the user, and unsubscribes the others. */
  async function tell(user: Followed, isOnline: boolean): Promise<void> {
    const hasChanged = user.isOnline !== undefined && user.isOnline !== isOnline;
    user.isOnline = isOnline;
    const told = [...user.listeners].flatMap(([listener, isAnswered]) => (isAnswered ? [listener] : []));
    if (!hasChanged || told.length === 0) return;
    const known = await acquaintances.idsAmong(
      user.org,
      user.uid,
      told.map(({ uid }) => uid),
    );
    const frame = JSON.stringify({ last_activity: { [user.uid]: isOnline ? 0 : 1 } });
    for (const listener of told) {
      if (!user.listeners.has(listener)) continue;
      if (known.has(listener.uid)) listener.write([frame]);
      else unsubscribe(listener);
    }
  }

  /** 0 of a user who is online, otherwise the seconds since the user was seen. */
  function activityOf(isOnline: boolean, seenAt: number): number {
    return isOnline ? 0 : Math.max(1, Math.floor((clock.now() - seenAt) / 1000));
  }

  /** Nodes that do not answer are reported elsewhere, and the next check asks again. */
  function tellUnexpected(error: unknown): void {
    if (!(error instanceof HeraldError && error.code === "unavailable")) onError(error);
  }

  return {
    /**
     * Subscribes the connection to `last_activity` of this user, in place of any other. Resolves with its present value: 0 if the
     * user is connected, otherwise the seconds since then. Throws `user_not_found` if the two users share no conversation, and
     * `unavailable` if not all nodes answer.
     */
    async subscribe(listener: ActivityListener, uid: string): Promise<number> {
      const seenAt = await acquaintances.lastSeen(listener.org, listener.uid, uid);
      unsubscribe(listener);
      const user = follow(listener.org, uid);
      user.listeners.set(listener, false);
      subscriptions.set(listener, { user, letGo: () => undefined });
      const letGo = listener.owner.hold(() => unsubscribe(listener));
      const subscription = subscriptions.get(listener);
      if (subscription !== undefined) subscription.letGo = letGo;
      try {
        await look(user);
      } catch (error) {
        unsubscribe(listener);
        throw error;
      }
      if (user.listeners.has(listener)) user.listeners.set(listener, true);
      return activityOf(user.isOnline === true, seenAt);
    },
    /**
     * `last_activity` of those of the users who share a conversation with the asker, without a subscription. Throws `unavailable` if
     * not all nodes answer.
     */
    async of(
      { org, uid }: Pick<ActivityListener, "org" | "uid">,
      ids: readonly string[],
    ): Promise<Record<string, number>> {
      const seen = await acquaintances.lastSeenAmong(org, uid, ids);
      const online = await presence.onlineAmong(org, [...seen.keys()]);
      return Object.fromEntries([...seen].map(([id, seenAt]) => [id, activityOf(online.has(id), seenAt)]));
    },
    /** Ends the connection's subscription, if it has one. */
    unsubscribe,
    /** Checks all users that connections here subscribe to, as notifications between nodes may be lost. Never rejects. */
    async check(): Promise<void> {
      await Promise.all([...followed.values()].map((user) => look(user).catch(tellUnexpected)));
    },
    /** The number of subscriptions. */
    get size(): number {
      return subscriptions.size;
    },
  };
}

/** Notifies connections when a user connects or disconnects, on any node. */
export type Activity = ReturnType<typeof createActivity>;
