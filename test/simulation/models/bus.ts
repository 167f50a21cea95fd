import type { Bus, Hint } from "../../../src/bus/bus.ts";
import type { SignedTexts } from "../../../src/bus/signed-texts.ts";
import type { LogEvent } from "../../../src/contract/log/log-event.ts";
import type { Random } from "../../harness/random.ts";
import { type Climate, largestHintBytes } from "../climate.ts";
import type { Product } from "../product.ts";
import { createForger } from "./forger.ts";
import { pause } from "./time.ts";

const subscribeWithinMs = 5;
const flushWithinMs = 1_000;

type Link = {
  readonly name: string;
  readonly subscriptions: Set<{ org: string; handler: (hint: Hint) => void; isHeard: boolean }>;
  readonly texts: SignedTexts;
  isConnected: boolean;
};

/** A node's end of the bus. */
export type BusEnd = Pick<Bus, "publish" | "subscribe" | "close"> & { disconnect(): void; connect(): void };

/**
 * A bus that loses, duplicates, delays and reorders, and whose ends can be cut off, or silently severed from one
 * another.
 */
export type BusModel = {
  attach(name: string): BusEnd;
  /** Lets nothing through from one node to another until `mend`. */
  sever(from: string, to: string): void;
  mend(): void;
};

type Options = {
  random: Random;
  climate: Pick<Climate, "forgeries" | "unsigning"> & { bus: Pick<Climate["bus"], "loss" | "doubles" | "lateMs"> };
  product: Pick<Product, "createSigner" | "createSignedTexts">;
  now(): number;
};

const secret = "the secret that all nodes of the database share";

export function createBusModel({ random, climate, product, now }: Options): BusModel {
  const { loss, doubles, lateMs } = climate.bus;
  const links = new Set<Link>();
  const severed = new Set<string>();
  const unsigning = new Set<string>();
  const isText = climate.forgeries + climate.unsigning > 0; // otherwise hints need not be encoded and decoded
  const forger = createForger(random, product.createSigner({ now }));

  function writeTexts(nodeId: string): SignedTexts {
    const signer = product.createSigner({ now });
    signer.take([secret]);
    return product.createSignedTexts({ nodeId, signer, unsigning: () => unsigning, onDrop: () => undefined });
  }

  function carry(from: Link, to: Link, event: LogEvent, textOf: () => string): void {
    if (!from.isConnected || !to.isConnected || severed.has(`${from.name}>${to.name}`)) return;
    if (random.next() < loss) return;
    const hint = isText ? textOf() : hintOf(event);
    const copies = random.next() < doubles ? 2 : 1;
    for (let copy = 0; copy < copies; copy++) setTimeout(arrive, 1 + random.integer(0, lateMs), to, event.org, hint);
    if (typeof hint !== "string" || random.next() >= climate.forgeries) return;
    const forgery = forger.forge(event.org, hint);
    setTimeout(arrive, random.integer(0, lateMs), to, forgery.org, forgery.text);
  }

  /** Carries an event to every node. Its text is the same for all of them. */
  function spread(from: Link, event: LogEvent): void {
    let written: string | undefined;
    const write = () => {
      const text = from.texts.writeHint(event, largestHintBytes) ?? "";
      return unsigning.has(from.name) ? withoutSignature(text) : text;
    };
    for (const to of links) carry(from, to, event, () => (written ??= write()));
  }

  function arrive(to: Link, org: string, hint: Hint | string): void {
    if (!to.isConnected) return;
    for (const subscription of to.subscriptions) {
      if (!subscription.isHeard || subscription.org !== org) continue;
      const read = typeof hint === "string" ? to.texts.readHint(org, hint) : hint;
      if (read !== undefined) subscription.handler(read);
    }
  }

  return {
    attach(name) {
      const link: Link = { name, subscriptions: new Set(), texts: writeTexts(name), isConnected: true };
      if (random.next() < climate.unsigning) unsigning.add(name);
      links.add(link);
      return {
        publish(events) {
          for (const event of events) spread(link, event);
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

function hintOf(event: LogEvent): Hint {
  const { org, offset, id, prev } = event;
  return event.payload.length > largestHintBytes ? { org, offset, id, prev } : event;
}

/** The text as written by a version that does not sign. */
function withoutSignature(text: string): string {
  return text.replace(/,"mac":"[^"]*"\}$/, "}");
}
