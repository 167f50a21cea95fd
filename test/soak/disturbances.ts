import type { SpoiltLine } from "../harness/clients/spoilt-line.ts";
import type { Random } from "../harness/random.ts";
import type { ClusterNode } from "../harness/servers/cluster.ts";
import type { Device } from "./device.ts";

/** What is disturbed. `lines` are those of each device, one to each node. */
export type Stage = {
  nodes: readonly ClusterNode[];
  devices: readonly Device[];
  lines: readonly (readonly SpoiltLine[])[];
};

/** Disturbances under way. */
export type Disturbances = {
  /** How often each kind has happened. */
  readonly counts: Readonly<Record<string, number>>;
  /** Begins no more; resolves once all are healed. Rejects if one failed. */
  end(): Promise<void>;
};

type Options = {
  stage: Stage;
  random: Random;
  /** The longest time until the next disturbance, and the longest that one lasts. */
  everyMs: number;
  longestMs: number;
};

/** A thing that is disturbed by one disturbance at a time. */
type Target = { kind: string; things: readonly unknown[]; disturb: (ms: number) => Promise<void> };

/** Disturbs lines, nodes and devices at random, several at a time, and heals each after a while. Two nodes are never away at once. */
export function startDisturbances({ stage, random, everyMs, longestMs }: Options): Disturbances {
  const counts: Record<string, number> = {};
  const disturbed = new Set<unknown>();
  const underWay = new Set<Promise<void>>();
  const over = new AbortController();
  let failure: unknown;

  const countOf = ({ kind }: Target) => counts[kind] ?? 0;

  function choose(): Target {
    const device = random.pick(stage.devices);
    const lines = stage.lines[stage.devices.indexOf(device)] ?? [];
    const line = random.pick(lines);
    const node = random.pick(stage.nodes);
    const pause = (ms: number) => Bun.sleep(ms);
    const heal = (some: readonly SpoiltLine[]) => Promise.all(some.map((one) => one.mend()));
    const targets: Target[] = [
      {
        kind: "line cut",
        things: [line],
        async disturb(ms) {
          line.cut();
          await pause(ms / 10);
          await heal([line]);
        },
      },
      {
        kind: "line stalled",
        things: [line],
        async disturb(ms) {
          line.freeze();
          await pause(ms);
          await heal([line]);
        },
      },
      {
        kind: "line slow",
        things: [line],
        async disturb(ms) {
          line.slow(100, 5_000);
          await pause(ms);
          await heal([line]);
        },
      },
      {
        kind: "device offline",
        things: lines,
        async disturb(ms) {
          for (const one of lines) one.cut();
          await pause(ms);
          await heal(lines);
        },
      },
      {
        kind: "device asleep",
        things: [device],
        async disturb(ms) {
          await device.sleep();
          await pause(ms);
          await device.wake();
        },
      },
      { kind: "node restarted", things: stage.nodes, disturb: () => node.restart() },
      {
        kind: "node killed",
        things: stage.nodes,
        async disturb() {
          await node.kill();
          await node.start();
        },
      },
    ];
    const fewest = Math.min(...targets.map(countOf)); // so that each kind happens, in a short run, too
    return random.pick(targets.filter((target) => countOf(target) === fewest));
  }

  async function run({ kind, things, disturb }: Target): Promise<void> {
    for (const thing of things) disturbed.add(thing);
    try {
      counts[kind] = (counts[kind] ?? 0) + 1;
      await disturb(random.next() * longestMs);
    } catch (error) {
      failure ??= error;
    } finally {
      for (const thing of things) disturbed.delete(thing);
    }
  }

  async function keep(): Promise<void> {
    while (!over.signal.aborted) {
      await Bun.sleep(random.next() * everyMs);
      const target = choose();
      if (over.signal.aborted || target.things.some((thing) => disturbed.has(thing))) continue;
      const disturbance = run(target).finally(() => underWay.delete(disturbance));
      underWay.add(disturbance);
    }
  }

  const keeping = keep();
  return {
    counts,
    async end() {
      over.abort();
      await keeping;
      await Promise.all(underWay);
      if (failure !== undefined) throw failure;
    },
  };
}
