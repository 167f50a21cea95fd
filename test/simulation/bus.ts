import type { Bus, Hint } from "../../src/bus/bus.ts";
import type { LogEvent } from "../../src/contract/log-event.ts";
import type { Random } from "../harness/random.ts";
import { type Climate, largestHintBytes } from "./climate.ts";
import { pause } from "./time.ts";

const subscribeWithinMs = 5;
const flushWithinMs = 1_000;

type Link = {
  readonly name: string;
  readonly subscriptions: Set<{ org: string; handler: (hint: Hint) => void; isHeard: boolean }>;
  isConnected: boolean;
};

/** A node's end of the bus. */
export type BusEnd = Pick<Bus, "publish" | "subscribe" | "close"> & { disconnect(): void; connect(): void };

/** A bus that loses, doubles, delays and reorders, and whose ends can be cut off, or severed from one another unseen. */
export type BusModel = {
  attach(name: string): BusEnd;
  /** Lets nothing more through from one node to another, until `mend`. */
  sever(from: string, to: string): void;
  mend(): void;
};

export function createBusModel(random: Random, { loss, doubles, lateMs }: Climate["bus"]): BusModel {
  const links = new Set<Link>();
  const severed = new Set<string>();

  function carry(from: Link, to: Link, event: LogEvent): void {
    if (!from.isConnected || !to.isConnected || severed.has(`${from.name}>${to.name}`)) return;
    if (random.next() < loss) return;
    const { org, offset, id, prev } = event;
    const hint: Hint = event.payload.length > largestHintBytes ? { org, offset, id, prev } : event;
    const copies = random.next() < doubles ? 2 : 1;
    for (let copy = 0; copy < copies; copy++) setTimeout(arrive, 1 + random.integer(0, lateMs), to, hint);
  }

  function arrive(to: Link, hint: Hint): void {
    if (!to.isConnected) return;
    for (const { org, handler, isHeard } of to.subscriptions) if (isHeard && org === hint.org) handler(hint);
  }

  return {
    attach(name) {
      const link: Link = { name, subscriptions: new Set(), isConnected: true };
      links.add(link);
      return {
        publish(events) {
          for (const event of events) for (const to of links) carry(link, to, event);
        },
        async subscribe(org, handler) {
          const subscription = { org, handler, isHeard: false };
          link.subscriptions.add(subscription);
          await pause(random.integer(0, subscribeWithinMs));
          subscription.isHeard = true;
          await pause(link.isConnected ? random.integer(0, subscribeWithinMs) : flushWithinMs);
          return () => void link.subscriptions.delete(subscription);
        },
        async close() {
          links.delete(link);
        },
        disconnect() {
          link.isConnected = false;
        },
        connect() {
          link.isConnected = true;
        },
      };
    },
    sever: (from, to) => void severed.add(`${from}>${to}`),
    mend: () => severed.clear(),
  };
}
