import type { Guard } from "../lib/observing/guard.ts";
import { createSetsByKey } from "../lib/sets-by-key.ts";
import { createId, joinIds } from "../lib/text/ids.ts";
import type { Hint, NodesBus, PresenceAnswer, PresenceQuestion, TypingNote, Watcher } from "./bus.ts";

/** Creates the bus of a single node: plain function calls. `guard`: keeps from the publisher what a subscriber throws. */
export function createLocalBus({ nodeId, guard }: { nodeId: string; guard: Guard }): NodesBus {
  let handlers = createSetsByKey<string, (hint: Hint) => void>();
  const followers = createSetsByKey<string, () => void>();
  const readers = createSetsByKey<string, (note: TypingNote) => void>();
  let answer: ((question: PresenceQuestion) => PresenceAnswer) | undefined;
  let watcher: Watcher | undefined;
  return {
    publish(events) {
      guard(() => {
        for (const event of events) for (const handler of handlers.of(event.org) ?? []) handler(event);
      });
    },
    async subscribe(org, handler) {
      handlers.add(org, handler);
      return () => handlers.remove(org, handler);
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
      for (const hear of followers.of(joinIds(org, uid)) ?? []) hear();
    },
    followActivity({ org, uid }, hear) {
      followers.add(joinIds(org, uid), hear);
      return () => followers.remove(joinIds(org, uid), hear);
    },
    tellTyping(note) {
      for (const hear of readers.of(note.org) ?? []) hear(note);
    },
    followTyping(org, hear) {
      readers.add(org, hear);
      return () => readers.remove(org, hear);
    },
    dropped: { unsigned: 0, forged: 0, unreadable: 0, repeated: 0 },
    state: () => "none",
    async close() {
      handlers = createSetsByKey();
    },
  };
}
