import type { Driver } from "../../../src/store/sql/driver.ts";
import { createTestWrites } from "../../../src/store/testing/test-store.ts";
import { createRandom } from "../../harness/random.ts";
import { createBusModel } from "../models/bus.ts";
import { inSimulatedTime, pause, type SimulatedTime } from "../models/time.ts";
import { product as wholeProduct } from "../product.ts";
import { chooseGrowthClimate, longestTroubleMs } from "./climate.ts";
import { type Device, runDevice } from "./device.ts";
import { judgeGrowth } from "./judge.ts";
import { eraseUser, isThere, list, runChanger, runLister } from "./lists.ts";
import { type Node, type Product, startNode } from "./node.ts";
import { type Draft, runSender } from "./sender.ts";
import { createTruth } from "./truth.ts";

/** What happened in a world: broken promises; empty if all is well. */
export type GrowthReport = { seed: number; broken: string[] };

const startsAt = Date.UTC(2030, 0, 1);
// Head checks find what no hint told of, silent messages are complete, and heartbeats end.
const settleMs = 16_000;
const tables = ["event", "growth", "participant", "conversation", "organization", '"user"'];
const senders = ["u1", "u2", "u3"];
const listeners = ["v1", "v2"];
const cids = ["c1", "c2"];

/** Plays one world on an SQLite database with the product's schema, which is emptied before. */
export function simulateGrowth(seed: number, shared: Driver, product: Product): GrowthReport {
  return inSimulatedTime((time) => runWorld(seed, shared, product, time), { simulatesDate: true, startsAt });
}

function runWorld(seed: number, shared: Driver, product: Product, time: SimulatedTime): GrowthReport {
  const random = createRandom(seed);
  const climate = chooseGrowthClimate(random);
  const { now } = time;
  const endsAt = now() + climate.activeMs;
  const isActive = () => now() < endsAt;
  const orgs = Array.from({ length: climate.organizations }, (_, index) => `o${index + 1}`);
  const broken: string[] = [];
  const drafts: Draft[] = [];
  const truth = createTruth({ shared, now, broken });
  const nodes: (Node | undefined)[] = [];
  const all: Node[] = [];
  let isOver = false;
  const onError = (error: unknown) => {
    const isExpected = error instanceof Error && "code" in error && error.code === "unavailable";
    if (!isExpected) broken.push(`something is wrong inside: ${error}`);
  };
  const outages = Array.from({ length: climate.outages }, () => {
    const from = now() + random.integer(0, climate.activeMs);
    return { from, to: from + random.integer(1, longestTroubleMs) };
  });
  const isAway = () => outages.some(({ from, to }) => from <= now() && now() <= to);
  const bus = createBusModel({ random, climate, product: wholeProduct, now });
  const onCommit = async () => {
    for (const org of orgs) await truth.note(org);
  };

  function start(): Node {
    const name = `node-${all.length + 1}`;
    const node = startNode({
      ...{ name, product, climate, shared, random, now, isAway, isActive, onCommit },
      bus: bus.attach(name),
      onError: (error) => (node.isAlive ? onError(error) : undefined),
    });
    all.push(node);
    return node;
  }

  async function replace(end: (node: Node) => Promise<void> | void): Promise<void> {
    await pause(random.integer(1, climate.activeMs));
    const index = random.integer(0, climate.nodes - 1);
    const node = nodes[index];
    nodes[index] = undefined;
    if (node !== undefined) await end(node);
    await pause(random.integer(0, 1_000));
    nodes[index] ??= start();
  }

  const pickNode = () => {
    const up = nodes.filter((node) => node !== undefined);
    return up[random.integer(0, up.length - 1)];
  };
  let calls = 0;
  const mayCall = () => isActive() && ++calls <= climate.calls;
  const world = { random, climate, truth, broken, now, isActive, pickNode, cids, endsAt, isOver: () => isOver };
  const devices: Device[] = [];

  async function run(): Promise<void> {
    await reset(shared, orgs);
    await onCommit();
    for (let index = 0; index < climate.nodes; index++) nodes[index] = start();
    const many = (count: number, work: (index: number) => Promise<void>) => {
      for (let index = 0; index < count; index++)
        work(index).catch((error: unknown) => broken.push(`the simulation itself fails: ${error}`));
    };
    many(climate.senders, () => runSender({ ...world, mayCall, orgs, uids: senders, drafts }));
    many(climate.listers, () => runLister(world, orgs, listeners, cids));
    many(climate.changers, () => runChanger(world, senders));
    many(climate.isErased ? 1 : 0, () => eraseUser(world, random.pick(orgs), random.pick(senders)));
    many(climate.devices, (index) => {
      const [org, uid] = [random.pick(orgs), random.pick(listeners)];
      const device = {
        name: `device-${index + 1}`,
        org,
        uid,
        view: new Map(),
        seen: [],
        isUpToDate: false,
        hasListed: false,
      };
      devices.push(device);
      return runDevice(world, device);
    });
    many(climate.kills, () => replace((node) => node.kill()));
    many(climate.stops, () => replace((node) => node.stop()));
  }

  async function look(): Promise<void> {
    for (const org of orgs) for (const cid of cids) await list(world, { org, uid: "v1", cid });
    broken.push(
      ...(await judgeGrowth({ shared, climate, truth, drafts, devices, isThere: (id) => isThere(world, id) })),
    );
  }

  try {
    run().catch(onError);
    time.pass(climate.activeMs + longestTroubleMs + climate.silenceMs + settleMs);
    let isJudged = false;
    look()
      .then(() => {
        isJudged = true;
      })
      .catch((error: unknown) => broken.push(`the judge fails: ${error}`));
    time.pass(longestTroubleMs);
    if (!isJudged) broken.push("the judge does not end");
    isOver = true;
    for (const node of nodes) node?.kill();
    time.pass(settleMs); // transactions end
  } catch (error) {
    broken.push(`the world fails: ${error}`);
  }
  return { seed, broken };
}

/** Empties the database, and creates organizations with conversations. */
async function reset(shared: Driver, orgs: string[]): Promise<void> {
  await shared.transaction(async (sql) => {
    for (const table of tables) await sql.run(`DELETE FROM ${table}`);
    await sql.run("UPDATE retention SET holder = '', held_until = 0, leased_until = 0");
  });
  const { organizations, conversations } = createTestWrites(shared);
  for (const org of orgs) {
    await organizations.put(org, undefined, 1);
    for (const cid of cids) await conversations.put(org, cid, { participants: [...senders, ...listeners] }, 1);
  }
}
