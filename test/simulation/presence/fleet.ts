import type { Random } from "../../harness/random.ts";
import { pause } from "../models/time.ts";
import { longestTroubleMs, type PresenceClimate } from "./climate.ts";
import type { Node } from "./node.ts";

type Options = { random: Random; climate: PresenceClimate; now(): number; start(id: string): Node };

// A node that is frozen for longer no longer holds a webhook.
const heldMs = 16_000;

/** A time of trouble, in milliseconds. */
export type Period = { from: number; to: number };

/** The nodes of a world, and what can happen to them. */
export type Fleet = ReturnType<typeof createFleet>;

/** Starts the nodes of a world. */
export function createFleet({ random, climate, now, start }: Options) {
  let starts = 0;
  const startNext = () => start(`node-${++starts}`);
  const nodes: (Node | undefined)[] = Array.from({ length: climate.nodes }, startNext);
  const freezes: Period[] = [];
  const up = () => nodes.filter((node) => node?.isAlive === true && !node.isFrozen) as Node[];

  function freeze(node: Node): () => void {
    const thaw = node.freeze();
    const period = { from: now(), to: Number.POSITIVE_INFINITY };
    freezes.push(period);
    return () => {
      period.to = now();
      thaw();
    };
  }

  /** Ends a node at some time, and starts another one in its place. */
  async function replace(end: (node: Node) => Promise<void> | void): Promise<void> {
    await pause(random.integer(1, climate.activeMs));
    const index = random.integer(0, climate.nodes - 1);
    const node = nodes[index];
    nodes[index] = undefined;
    if (node !== undefined) await end(node);
    await pause(random.integer(0, 3_000));
    nodes[index] ??= startNext();
  }

  /** Takes something from a node for a while, which `begin` does, and returns how it is given back. */
  async function trouble(begin: (node: Node) => () => void): Promise<void> {
    const { from, to } = choosePeriod(random, climate);
    await pause(from);
    const node = nodes[random.integer(0, climate.nodes - 1)];
    if (node?.isAlive !== true || node.isFrozen) return;
    const mend = begin(node);
    await pause(to - from);
    mend();
  }

  return {
    /** A node that takes connections and calls, if there is one. */
    pickNode(): Node | undefined {
      const some = up();
      return some.length === 0 ? undefined : random.pick(some);
    },
    nodes: up,
    /** When a node was frozen. */
    freezes,
    kill: () => replace((node) => node.kill()),
    stop: () => replace((node) => node.stop()),
    freeze: () => trouble(freeze),
    /** Freezes the next node that is about to tell a webhook something, for so long that another one may take over. */
    async freezeTeller(): Promise<void> {
      await pause(random.integer(1, climate.activeMs));
      let isFound = false;
      for (const node of up())
        node.whenItTells(() => {
          if (isFound || node.isFrozen || !node.isAlive) return;
          isFound = true;
          setTimeout(freeze(node), random.integer(heldMs, longestTroubleMs));
        });
    },
    cutFromBus: () =>
      trouble((node) => {
        node.isOffBus = true;
        return () => {
          node.isOffBus = false;
        };
      }),
    cutFromDatabase: () =>
      trouble((node) => {
        node.isOffDatabase = true;
        node.healthyUntil = Math.min(node.healthyUntil, now()); // it falls silent
        return () => {
          node.isOffDatabase = false;
        };
      }),
  };
}

/** Chooses when something fails. */
export function choosePeriod(random: Random, climate: PresenceClimate): Period {
  const from = random.integer(1, climate.activeMs);
  return { from, to: from + random.integer(1, random.pick([3_000, longestTroubleMs])) };
}
