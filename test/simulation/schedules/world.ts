import type { Driver, Row } from "../../../src/store/sql/driver.ts";
import { createTestWrites } from "../../../src/store/testing/test-store.ts";
import { createRandom } from "../../harness/random.ts";
import { inSimulatedTime, pause, type SimulatedTime } from "../models/time.ts";
import { type Order, runCaller } from "./caller.ts";
import { chooseScheduleClimate, longestTroubleMs } from "./climate.ts";
import { judgeSchedule, type SentEvent, type StoredOrder } from "./judge.ts";
import { type Node, type Product, startNode } from "./node.ts";

/** What happened in a world: broken promises; empty if all is well. */
export type ScheduleReport = { seed: number; broken: string[] };

// Everything that waits is sent by then: calls are repeated for some seconds, and each time a rate is used up costs one.
const settleMs = { afterTrouble: 15_000, withRates: 60_000 };
const tables = ["event", "scheduled_send", "schedule", "participant", "conversation", "organization", '"user"'];

/**
 * Plays one world on an SQLite database with the product's schema, which is emptied before: several nodes share it, as
 * they share PostgreSQL.
 */
export function simulateSchedule(seed: number, shared: Driver, product: Product): ScheduleReport {
  return inSimulatedTime((time) => runWorld(seed, shared, product, time));
}

function runWorld(seed: number, shared: Driver, product: Product, time: SimulatedTime): ScheduleReport {
  const random = createRandom(seed);
  const climate = chooseScheduleClimate(random);
  const orgs = Array.from({ length: climate.organizations }, (_, index) => `o${index + 1}`);
  const broken: string[] = [];
  const orders: Order[] = [];
  const sent: SentEvent[] = [];
  const nodes: (Node | undefined)[] = [];
  const onError = (error: unknown) => broken.push(`something is wrong inside: ${error}`);
  const outages = Array.from({ length: climate.outages }, () => {
    const from = random.integer(0, climate.activeMs);
    return { from, to: from + random.integer(1, longestTroubleMs) };
  });
  const isAway = () => outages.some(({ from, to }) => from <= time.now() && time.now() <= to);

  /** Notes the events of a commit with its time. */
  async function onCommit(): Promise<void> {
    const find = "SELECT id, org, kind, payload FROM event WHERE kind <> 'membership'";
    for (const event of await shared.all<Omit<SentEvent, "at"> & Row>(find)) {
      if (!sent.some(({ id }) => id === event.id)) sent.push({ ...event, at: time.now() });
    }
  }

  const start = () => startNode({ product, shared, random, climate, now: time.now, isAway, onCommit, onError });

  async function killNode(): Promise<void> {
    await pause(random.integer(1, climate.activeMs));
    const index = random.integer(0, climate.nodes - 1);
    nodes[index]?.kill();
    nodes[index] = undefined;
    await pause(random.integer(0, longestTroubleMs));
    nodes[index] ??= start();
  }

  async function run(): Promise<void> {
    await reset(shared, orgs);
    for (let index = 0; index < climate.nodes; index++) nodes[index] = start();
    const pickNode = () => {
      const up = nodes.filter((node) => node !== undefined);
      return up[random.integer(0, up.length - 1)];
    };
    const callers = { random, climate, orgs, orders, now: time.now, pickNode, onError };
    for (let count = 0; count < climate.callers; count++) runCaller(callers).catch(onError);
    for (let count = 0; count < climate.kills; count++) killNode().catch(onError);
  }

  async function look(): Promise<void> {
    const rows = await shared.all<StoredOrder & Row>("SELECT org, id, state, request, server_mid FROM scheduled_send");
    broken.push(...judgeSchedule({ climate, orders, sent, rows }));
    for (const { org } of await shared.all<{ org: string }>("SELECT org FROM schedule"))
      broken.push(`${org} is still on the schedule`);
    const count = `SELECT id, stored_bytes AS counted, (SELECT COALESCE(SUM(OCTET_LENGTH(payload)
      + COALESCE(OCTET_LENGTH(uids), 0)), 0) FROM event WHERE org = organization.id) AS stored FROM organization`;
    for (const { id, counted, stored } of await shared.all<{ id: string; counted: number; stored: number }>(count))
      if (counted !== stored) broken.push(`${counted} bytes of ${id} are counted, not ${stored}`);
  }

  try {
    run().catch(onError);
    const untilSettledMs = climate.rateLimited > 0 ? settleMs.withRates : settleMs.afterTrouble;
    time.pass(climate.activeMs + climate.aheadMs + longestTroubleMs + untilSettledMs);
    if (orders.length < climate.orders) broken.push("the world does not begin");
    look().catch(onError);
    for (const node of nodes) node?.kill();
    time.pass(settleMs.afterTrouble); // transactions end
  } catch (error) {
    broken.push(`the world fails: ${error}`);
  }
  return { seed, broken };
}

/** Empties the database, and creates organizations with a conversation. */
async function reset(shared: Driver, orgs: string[]): Promise<void> {
  await shared.transaction(async (sql) => {
    for (const table of tables) await sql.run(`DELETE FROM ${table}`);
  });
  const { organizations, conversations } = createTestWrites(shared);
  for (const org of orgs) {
    await organizations.put(org, undefined, 1);
    await conversations.put(org, "c1", { participants: ["u1", "u2", "u3"] }, 1);
  }
}
