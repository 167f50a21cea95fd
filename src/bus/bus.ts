import type { LogEvent } from "../contract/log-event.ts";

/**
 * Carries events from the node that committed them to the nodes that play them. It is a hint: an event may come late,
 * twice, out of order or never, and the sequencers find the truth in the store.
 */
export type Bus = {
  /** Hands events to every subscriber of their organization. Never fails: what is lost is found by the head check. */
  publish(events: LogEvent[]): void;
  /** Resolves when every event published from now on reaches `handler`; gives the function that ends the subscription. */
  subscribe(org: string, handler: (event: LogEvent) => void): Promise<() => void>;
  close(): Promise<void>;
};
