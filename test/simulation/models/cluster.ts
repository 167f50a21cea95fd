import type { LogEvent } from "../../../src/contract/log/log-event.ts";
import type { Session } from "../../../src/services/sessions/sessions.ts";
import type { Random } from "../../harness/random.ts";
import { type Climate, longestTroubleMs } from "../climate.ts";
import type { Product } from "../product.ts";
import { createBusModel } from "./bus.ts";
import type { Database } from "./database.ts";
import { createNode, type Node, StoreFault } from "./node.ts";
import { pause } from "./time.ts";

/** Nodes on one database and one bus, and what can happen to them. */
export type Cluster = {
  /** A node that accepts connections and calls, if there is one. */
  pickNode(): Node | undefined;
  /** The nodes that are up. */
  nodes(): Node[];
  /** Each of these waits for its moment, does its harm, and mends it. */
  restartNode(): Promise<void>;
  breakBus(): Promise<void>;
  severNodes(): Promise<void>;
  failOver(): Promise<void>;
  /** Called with an error of a node: it is told, unless the database or the end of the node explains it. */
  tell(name: string, error: unknown): void;
  /** When the database was away. */
  readonly outages: { from: number; to: number }[];
  /** When a node was back on the bus, and checked the heads at once. */
  readonly heals: { node: string; at: number }[];
  /** The names of nodes that were stopped or killed. */
  readonly stopped: ReadonlySet<string>;
};

type Options = {
  random: Random;
  climate: Climate;
  product: Product;
  database: Database;
  checksHeadsOnConnect: boolean;
  now(): number;
  isActive(): boolean;
  note(text: () => string): void;
  onSession(token: string, session: Session): void;
  onCommit(node: Node, events: LogEvent[]): void;
  onError(error: string): void;
};

export function createCluster(options: Options): Cluster {
  const { random, climate, product, database, checksHeadsOnConnect, now, isActive, note, onError } = options;
  const { onSession, onCommit } = options;
  const bus = createBusModel({ random, climate, product, now });
  const nodes: (Node | undefined)[] = [];
  const heals: Cluster["heals"] = [];
  const stopped = new Set<string>();
  const outages = Array.from({ length: climate.store.outages }, () => {
    const from = random.integer(0, climate.activeMs);
    return { from, to: from + random.integer(1, longestTroubleMs) };
  });
  const failsOverAt = random.integer(1, climate.activeMs);
  if (climate.failovers > 0 && climate.failoverMs > 0)
    outages.push({ from: failsOverAt - climate.failoverMs, to: failsOverAt - 1 });
  for (const { from, to } of outages) note(() => `the database will be away from ${from} to ${to} ms`);

  const store = {
    isFailing: () =>
      outages.some(({ from, to }) => from <= now() && now() <= to) ||
      (isActive() && random.next() < climate.store.misses),
    latencyMs: () => random.integer(0, climate.store.latencyMs),
  };

  function tell(name: string, error: unknown): void {
    const isExpected =
      error instanceof StoreFault || (error instanceof Error && "code" in error && error.code === "unavailable");
    if (!isExpected && !stopped.has(name)) onError(`${name}: ${error}`);
  }

  function start(index: number): void {
    const name = `node ${index}.${stopped.size}`;
    nodes[index] = createNode({
      name,
      product,
      database,
      bus: bus.attach(name),
      random,
      now,
      store,
      climate,
      onSession,
      onCommit,
      note,
      onError: (error) => tell(name, error),
    });
    note(() => `${name} starts`);
  }

  const nodesUp = () => nodes.filter((node) => node !== undefined);

  function pickNode(): Node | undefined {
    const up = nodesUp();
    return up[random.integer(0, up.length - 1)];
  }

  for (let index = 0; index < climate.nodes; index++) start(index);
  return {
    pickNode,
    nodes: nodesUp,
    async restartNode() {
      await pause(random.integer(1, climate.activeMs));
      const index = random.integer(0, climate.nodes - 1);
      const node = nodes[index];
      if (node === undefined) return;
      nodes[index] = undefined;
      stopped.add(node.name);
      const isGentle = random.next() < 0.5;
      note(() => `${node.name} is ${isGentle ? "stopped" : "killed"}`);
      if (isGentle) await node.stop();
      else node.kill();
      await pause(random.integer(0, 2_000));
      start(index);
    },
    async breakBus() {
      await pause(random.integer(1, climate.activeMs));
      const node = pickNode();
      if (node === undefined) return;
      node.bus.disconnect();
      note(() => `${node.name} loses the bus`);
      await pause(random.integer(1, longestTroubleMs));
      if (stopped.has(node.name)) return;
      node.bus.connect();
      note(() => `${node.name} is on the bus`);
      heals.push({ node: node.name, at: now() });
      if (checksHeadsOnConnect) node.checkHeads();
    },
    async severNodes() {
      await pause(random.integer(1, climate.activeMs));
      const from = pickNode();
      const to = pickNode();
      if (from === undefined || to === undefined) return;
      bus.sever(from.name, to.name);
      note(() => `${to.name} no longer hears ${from.name}`);
      await pause(random.integer(1, longestTroubleMs));
      bus.mend();
      note(() => "all nodes hear one another");
    },
    async failOver() {
      await pause(failsOverAt);
      database.failOver(Math.max(0, now() - random.integer(0, climate.standbyLagMs)));
      note(() => "a standby takes over");
    },
    tell,
    outages,
    heals,
    stopped,
  };
}
