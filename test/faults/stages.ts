import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type SpoiltLine, startSpoiltLine } from "../harness/clients/spoilt-line.ts";
import { freePort } from "../harness/engines/free-port.ts";
import { isRoot } from "../harness/engines/installed.ts";
import { type Nats, startNats } from "../harness/engines/nats.ts";
import { type Postgres, startPostgres } from "../harness/engines/postgres.ts";
import { fillDisk, insideOf, withSmallDisk } from "../harness/engines/small-disk.ts";
import { createSteppedClock, type SteppedClock } from "../harness/engines/stepped-clock.ts";
import { readPostgresLog, readSqliteLog } from "../harness/reading/event-log.ts";
import { type Cluster, startCluster, startNode } from "../harness/servers/cluster.ts";
import { TEST_TOKEN_SECRET } from "../harness/servers/herald.ts";
import { type NatsPair, startNatsPair } from "./nats-pair.ts";
import type { Stage } from "./scenario.ts";

/** The number of nodes in a cluster. */
export const nodeCount = 3;

/** Nodes on PostgreSQL and NATS. */
export type ClusterStage = Stage & Cluster & { readonly nats: Nats };

type Options = {
  env?: (index: number, databaseUrl: string) => Record<string, string>;
  postgres?: Postgres;
  revision?: string;
};

/** Starts three nodes on servers of their own, with the default limits unless `env` sets others. */
export async function onCluster({ env, postgres, revision }: Options = {}): Promise<ClusterStage | undefined> {
  const cluster = await startCluster({
    nodes: nodeCount,
    ...(env !== undefined && { env }),
    ...(postgres !== undefined && { postgres }),
    ...(revision !== undefined && { revision }),
  });
  if (cluster?.nats === undefined) return undefined;
  return { ...cluster, nats: cluster.nats, readLog: (org) => readPostgresLog(cluster.databaseUrl, org) };
}

/** Like `onCluster`, on a database with a small disk. */
export async function onSmallDatabase(): Promise<ClusterStage | undefined> {
  const postgres = await startPostgres({ diskMegabytes: 40 });
  if (postgres === undefined) return undefined;
  try {
    const stage = await onCluster({ postgres });
    if (stage === undefined) return undefined;
    return {
      ...stage,
      async [Symbol.asyncDispose]() {
        await stage[Symbol.asyncDispose]();
        postgres.stop();
      },
    };
  } catch (error) {
    postgres.stop();
    throw error;
  }
}

/** Starts one node with an embedded database on a small disk. */
export async function onSmallEmbedded(): Promise<(Stage & { fillDisk(): () => void }) | undefined> {
  if (!isRoot("a small disk")) return undefined;
  const dataDir = mkdtempSync(join(tmpdir(), "herald-small-"));
  const node = await startNode({
    env: { HERALD_PORT: String(freePort()), HERALD_TOKEN_SECRET: TEST_TOKEN_SECRET },
    dataDir,
    prefix: withSmallDisk(dataDir, 40),
  });
  const inside = insideOf(node.pid, dataDir);
  return {
    nodes: [node],
    readLog: async (org) => readSqliteLog(inside, org),
    fillDisk: () => fillDisk(inside),
    async [Symbol.asyncDispose]() {
      await node[Symbol.asyncDispose]();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

/** The lines from one node to the servers. */
export type Lines = { postgres: SpoiltLine; nats: SpoiltLine };

/** Like `onCluster`, but each node reaches PostgreSQL and NATS over lines of its own. */
export async function onClusterWithLines(): Promise<(ClusterStage & { lines: Lines[] }) | undefined> {
  await using starting = new AsyncDisposableStack();
  const postgres = await startPostgres();
  const nats = await startNats();
  if (postgres === undefined || nats === undefined) return undefined;
  starting.defer(() => postgres.stop());
  starting.defer(() => nats.stop());
  const lines: Lines[] = [];
  for (let index = 0; index < nodeCount; index += 1) {
    const line = { postgres: await startSpoiltLine(postgres.port), nats: await startSpoiltLine(portOf(nats.url)) };
    lines.push(line);
    starting.defer(line.postgres.stop);
    starting.defer(line.nats.stop);
  }
  const cluster = await startCluster({
    nodes: nodeCount,
    postgres,
    nats,
    env: (index, databaseUrl) => ({
      HERALD_DATABASE_URL: throughPort(databaseUrl, lines[index]?.postgres.port),
      HERALD_BUS_URL: throughPort(nats.url, lines[index]?.nats.port),
    }),
  });
  starting.use(cluster);
  const all = starting.move();
  return {
    ...cluster,
    nats,
    lines,
    readLog: (org) => readPostgresLog(cluster.databaseUrl, org),
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  };
}

function portOf(url: string): number {
  return Number(new URL(url).port);
}

/** The same URL with another port. */
export function throughPort(url: string, port: number | undefined): string {
  const through = new URL(url);
  through.port = String(port);
  return through.href;
}

/** Starts three nodes, the first and the last on one NATS server and the middle one on another. */
export async function onNatsPair(): Promise<(Stage & { pair: NatsPair }) | undefined> {
  await using starting = new AsyncDisposableStack();
  const pair = await startNatsPair();
  if (pair === undefined) return undefined;
  starting.use(pair);
  const cluster = await startCluster({
    nodes: nodeCount,
    nats: null,
    env: (index) => ({ HERALD_BUS_URL: pair.urls[index % 2] ?? "" }),
  });
  if (cluster === undefined) return undefined;
  starting.use(cluster);
  const all = starting.move();
  return {
    nodes: cluster.nodes,
    pair,
    readLog: (org) => readPostgresLog(cluster.databaseUrl, org),
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  };
}

/** Starts three nodes with clocks of their own. */
export async function onClusterWithClocks(): Promise<(ClusterStage & { clocks: SteppedClock[] }) | undefined> {
  using starting = new DisposableStack();
  const clocks: SteppedClock[] = [];
  for (let index = 0; index < nodeCount; index += 1) {
    const clock = createSteppedClock();
    if (clock === undefined) return undefined;
    clocks.push(starting.use(clock));
  }
  const stage = await onCluster({ env: (index) => clocks[index]?.env ?? {} });
  if (stage === undefined) return undefined;
  const all = starting.move();
  return {
    ...stage,
    clocks,
    async [Symbol.asyncDispose]() {
      await stage[Symbol.asyncDispose]();
      all.dispose();
    },
  };
}

/** Starts one node with an embedded database and a clock of its own, which is off by `seconds` at first. */
export async function onEmbeddedWithClock({ env = {}, seconds }: EmbeddedOptions): Promise<ClockStage | undefined> {
  await using starting = new AsyncDisposableStack();
  const clock = createSteppedClock();
  if (clock === undefined) return undefined;
  starting.use(clock);
  let offset = 0;
  const set = (to: number) => {
    offset = to;
    clock.set(to);
  };
  set(seconds);
  const own = { HERALD_PORT: String(freePort()), HERALD_TOKEN_SECRET: TEST_TOKEN_SECRET };
  const node = starting.use(await startNode({ env: { ...own, ...env, ...clock.env } }));
  const all = starting.move();
  return {
    nodes: [node],
    clock: { set, now: () => Date.now() + offset * 1_000 },
    readLog: async (org) => readSqliteLog(node.herald.dataDir, org),
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  };
}

type EmbeddedOptions = { env?: Record<string, string>; seconds: number };

/** A node, and its clock: `set` sets how many seconds it is off. */
export type ClockStage = Stage & { clock: { set(seconds: number): void; now(): number } };
