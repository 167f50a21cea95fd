import type { LogEvent } from "../../src/contract/log-event.ts";
import { createRandom } from "../harness/random.ts";
import { createBusModel } from "./bus.ts";
import { type Hearing, recordSession, runClient } from "./client.ts";
import { chooseClimate, headCheckMs, longestTroubleMs, retentionMs } from "./climate.ts";
import { createDatabase } from "./database.ts";
import { judge } from "./judge.ts";
import { createNode, type Node, type Product, StoreFault } from "./node.ts";
import { inSimulatedTime, pause, type SimulatedTime } from "./time.ts";
import { runWriter, type Writing } from "./writer.ts";

/** What may differ from the world as it should be. */
export type Variant = {
  product: Product;
  writing?: Writing;
  /** Whether a node looks at the heads when the bus is there again; true unless said otherwise. */
  checksHeadsOnConnect?: boolean;
};

export type Report = {
  seed: number;
  /** What was promised and not kept; empty when all is well. */
  broken: string[];
  /** All that happened, a line each; empty unless it was asked for. */
  trace: string[];
  hearings: Hearing[];
  events: number;
};

/** Plays the world of one seed to its end, and judges it. The same seed and variant give the same report. */
export function simulate(seed: number, variant: Variant, isTraced = false): Report {
  return inSimulatedTime((time) => runWorld(seed, variant, isTraced, time));
}

function runWorld(seed: number, variant: Variant, isTraced: boolean, time: SimulatedTime): Report {
  const random = createRandom(seed);
  const climate = chooseClimate(random);
  const database = createDatabase(time.now);
  const busModel = createBusModel(random, climate.bus);
  const orgs = names("o", climate.organizations);
  const uids = names("u", climate.users);
  const cids = names("c", climate.conversations);
  const trace: string[] = [];
  const errors: string[] = [];
  const hearings: Hearing[] = [];
  const heals: { node: string; at: number }[] = [];
  const stopped = new Set<string>();
  const nodes: (Node | undefined)[] = [];
  const isActive = () => time.now() < climate.activeMs;
  const note = (text: () => string) => {
    if (isTraced) trace.push(`${String(time.now()).padStart(6)} ms  ${text()}`);
  };
  note(() => `seed ${seed}: ${JSON.stringify(climate)}`);

  const troubles = Array.from({ length: climate.store.failures }, () => {
    const from = random.integer(0, climate.activeMs);
    return { from, to: from + random.integer(1, longestTroubleMs) };
  });
  const isFailing = () => troubles.some(({ from, to }) => from <= time.now() && time.now() <= to);
  const latencyMs = () => random.integer(0, climate.store.latencyMs);

  function start(index: number, generation: number): Node {
    const name = `node ${index}.${generation}`;
    const node = createNode({
      name,
      product: variant.product,
      database,
      bus: busModel.attach(name),
      random,
      now: time.now,
      store: { isFailing, latencyMs },
      maxRecovered: climate.maxRecovered,
      onSession: (token, session) => recordSession(hearings, token, session),
      onError(error) {
        if (!(error instanceof StoreFault) && !stopped.has(name)) errors.push(`${name}: ${error}`);
      },
    });
    nodes[index] = node;
    note(() => `${name} starts`);
    return node;
  }

  function pickNode(): Node | undefined {
    const up = nodes.filter((node) => node !== undefined);
    return up[random.integer(0, up.length - 1)];
  }

  async function restart(): Promise<void> {
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
    start(index, stopped.size);
  }

  async function breakBus(): Promise<void> {
    await pause(random.integer(1, climate.activeMs));
    const node = pickNode();
    if (node === undefined) return;
    node.bus.disconnect();
    note(() => `${node.name} loses the bus`);
    await pause(random.integer(1, longestTroubleMs));
    healBus(node);
  }

  function healBus(node: Node): void {
    if (!node.isAlive || stopped.has(node.name)) return;
    node.bus.connect();
    note(() => `${node.name} is on the bus`);
    heals.push({ node: node.name, at: time.now() });
    if (variant.checksHeadsOnConnect !== false) node.checkHeads();
  }

  async function severNodes(): Promise<void> {
    await pause(random.integer(1, climate.activeMs));
    const from = pickNode();
    const to = pickNode();
    if (from === undefined || to === undefined) return;
    busModel.sever(from.name, to.name);
    note(() => `${to.name} no longer hears ${from.name}`);
    await pause(random.integer(1, longestTroubleMs));
    busModel.mend();
  }

  async function purge(): Promise<void> {
    for (;;) {
      await pause(1_000);
      for (const org of orgs) database.purge(org, time.now() - retentionMs);
    }
  }

  function act(actor: Promise<void>): void {
    actor.catch((error: unknown) => errors.push(`the simulation fails: ${error}`));
  }

  for (const org of orgs) {
    database.create(org);
    const first = cids.map((cid, index): LogEvent => {
      const added = uids.filter(() => random.next() < 0.7);
      return database.prepare(org, index + 1, { kind: "membership", cid, change: { added, removed: [] } });
    });
    database.commit(org, first);
  }
  for (let index = 0; index < climate.nodes; index++) start(index, 0);
  const shared = { random, climate, database, now: time.now, isActive, pickNode, note };
  const writing = variant.writing ?? "announces after the commit";
  for (let index = 0; index < climate.writers; index++) act(runWriter({ ...shared, writing, orgs, uids, cids }));
  for (let index = 0; index < climate.clients; index++) {
    const org = orgs[random.integer(0, orgs.length - 1)] ?? "";
    const uid = uids[random.integer(0, uids.length - 1)] ?? "";
    act(runClient({ ...shared, hearings }, org, uid));
  }
  for (let count = 0; count < climate.restarts; count++) act(restart());
  for (let count = 0; count < climate.bus.outages; count++) act(breakBus());
  for (let count = 0; count < climate.bus.severances; count++) act(severNodes());
  if (climate.isPurged) act(purge());

  time.pass(climate.activeMs + longestTroubleMs + 1_000);
  time.pass(2 * headCheckMs + 20 * climate.store.latencyMs + (climate.large > 0 ? 5_000 : 1_000));
  const organization = database.get;
  const history = { climate, organization, hearings, troubles, heals, stopped, endedAt: time.now() };
  const broken = [...errors, ...judge(history)];
  for (const line of broken) note(() => line);
  const events = orgs.reduce((sum, org) => sum + database.get(org).head, 0);
  return { seed, broken, trace, hearings, events };
}

function names(prefix: string, count: number): string[] {
  return Array.from({ length: count }, (_, index) => `${prefix}${index + 1}`);
}
