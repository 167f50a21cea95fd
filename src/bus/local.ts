import type { Guard } from "../lib/observing/guard.ts";
import { createId, joinIds } from "../lib/text/ids.ts";
import type { ActivityBus, Bus, Hint, PresenceAnswer, PresenceQuestion, WatchBus, Watcher } from "./bus.ts";

/** Creates the bus of a single node: plain function calls. `guard`: keeps from the publisher what a subscriber throws. */
export function createLocalBus({ nodeId, guard }: { nodeId: string; guard: Guard }): Bus & WatchBus & ActivityBus {
  const handlers = new Map<string, Set<(hint: Hint) => void>>();
  const followers = new Map<string, Set<() => void>>();
  let answer: ((question: PresenceQuestion) => PresenceAnswer) | undefined;
  let watcher: Watcher | undefined;
  return {
    publish(events) {
      guard(() => {
        for (const event of events) for (const handler of handlers.get(event.org) ?? []) handler(event);
      });
    },
    subscribe: async (org, handler) => addTo(handlers, org, handler),
    async request(question) {
      return new Map(answer && [[nodeId, answer(question)]]);
    },
    respond(newAnswer) {
      answer = newAnswer;
    },
    watch(question, hear) {
      const id = createId();
      watcher?.begin(id, question, (news) => hear(nodeId, news));
      return () => watcher?.end(id);
    },
    watchWith(newWatcher) {
      watcher = newWatcher;
    },
    tellActivity({ org, uid }) {
      for (const hear of followers.get(joinIds(org, uid)) ?? []) hear();
    },
    followActivity: ({ org, uid }, hear) => addTo(followers, joinIds(org, uid), hear),
    dropped: { unsigned: 0, forged: 0, unreadable: 0, repeated: 0 },
    state: () => "none",
    async close() {
      handlers.clear();
    },
  };
}

/** Adds a value under a key. Returns the function that removes it, and the key with the last one. */
function addTo<Value>(sets: Map<string, Set<Value>>, key: string, value: Value): () => void {
  const values = sets.get(key) ?? new Set();
  sets.set(key, values.add(value));
  return () => {
    values.delete(value);
    if (values.size === 0 && sets.get(key) === values) sets.delete(key);
  };
}
