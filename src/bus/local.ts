import { createId } from "../lib/text/ids.ts";
import { joinIds } from "../lib/text/joined-ids.ts";
import type { ActivityBus, Bus, Hint, PresenceAnswer, PresenceQuestion, WatchBus, Watcher } from "./bus.ts";

/** Creates the bus of a single node: plain function calls. */
export function createLocalBus({ nodeId }: { nodeId: string }): Bus & WatchBus & ActivityBus {
  const handlers = new Map<string, Set<(hint: Hint) => void>>();
  const followers = new Map<string, Set<() => void>>();
  let answer: ((question: PresenceQuestion) => PresenceAnswer) | undefined;
  let watcher: Watcher | undefined;
  return {
    publish(events) {
      for (const event of events) {
        for (const handler of handlers.get(event.org) ?? []) handler(event);
      }
    },
    async subscribe(org, handler) {
      const ofOrg = handlers.get(org) ?? new Set();
      handlers.set(org, ofOrg.add(handler));
      return () => {
        ofOrg.delete(handler);
        if (ofOrg.size === 0 && handlers.get(org) === ofOrg) handlers.delete(org);
      };
    },
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
    followActivity({ org, uid }, hear) {
      const user = joinIds(org, uid);
      const ofUser = followers.get(user) ?? new Set();
      followers.set(user, ofUser.add(hear));
      return () => {
        ofUser.delete(hear);
        if (ofUser.size === 0 && followers.get(user) === ofUser) followers.delete(user);
      };
    },
    dropped: { unsigned: 0, forged: 0, unreadable: 0, repeated: 0 },
    state: () => "none",
    async close() {
      handlers.clear();
    },
  };
}
