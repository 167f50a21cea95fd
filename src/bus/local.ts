import type { Bus, Hint } from "./bus.ts";

/** The bus of a node that is alone: a function call. */
export function createLocalBus(): Bus {
  const handlers = new Map<string, Set<(hint: Hint) => void>>();
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
    async close() {
      handlers.clear();
    },
  };
}
