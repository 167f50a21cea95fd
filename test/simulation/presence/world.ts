import { HeraldError } from "../../../src/contract/errors/errors.ts";
import { compareBytes } from "../../../src/lib/text/text.ts";
import type { Driver } from "../../../src/store/sql/driver.ts";
import { createTestWrites } from "../../../src/store/testing/test-store.ts";
import { createRandom } from "../../harness/random.ts";
import { inSimulatedTime, type SimulatedTime } from "../models/time.ts";
import { choosePresenceClimate, longestTroubleMs, type PresenceClimate } from "./climate.ts";
import { runDevice, type Stay } from "./device.ts";
import { choosePeriod, createFleet, type Fleet } from "./fleet.ts";
import { runHook } from "./hooks.ts";
import { type Hook, judgePresence } from "./judge.ts";
import { type Product, startNode } from "./node.ts";
import { createQuestions } from "./questions.ts";
import { createReceiver, type Post } from "./receiver.ts";
import { createTelling } from "./telling.ts";

/** What happened in a world: broken promises, empty if all is well; parts, and how often another node took over. */
export type PresenceReport = { seed: number; broken: string[]; figures: { parts: number; takeovers: number } };

// Claims and leases of nodes that died end, dead nodes fall silent, and failed posts are tried again.
const settleMs = 70_000;
const tables = ["webhook_online", "webhook_presence", "webhook_delivery", "webhook_queue", "webhook", "node"];

/** Plays one world on an SQLite database with the product's schema, which is emptied before. */
export function simulatePresence(seed: number, shared: Driver, product: Product): PresenceReport {
  return inSimulatedTime((time) => runWorld(seed, shared, product, time), { simulatesDate: true });
}

function runWorld(seed: number, shared: Driver, product: Product, time: SimulatedTime): PresenceReport {
  const random = createRandom(seed);
  const climate = choosePresenceClimate(random);
  const { now } = time;
  const broken: string[] = [];
  const posts: Post[] = [];
  const stays: Stay[] = [];
  const removed = new Set<Hook>();
  const telling = createTelling(shared, now);
  const onError = (error: unknown) => {
    if (!(error instanceof HeraldError) || error.code !== "unavailable")
      broken.push(`something is wrong inside: ${error}`);
  };
  const orgs = names("o", climate.organizations);
  const uids = names("u", climate.users).map((uid) => `${uid}-`.padEnd(climate.uidLength, "x"));
  const hooks = orgs.flatMap((org) => names(`${org}-w`, climate.hooks).map((ref) => hookOf(org, ref, climate)));
  const outages = Array.from({ length: climate.outages }, () => choosePeriod(random, climate));
  const isAway = () => outages.some(({ from, to }) => from <= now() && now() <= to);
  const attempt = createReceiver({ random, climate, now, posts });
  const questions = createQuestions({ random, climate, now });
  const shares = { product, questions, attempt, onError, climate, shared, random, now, isAway, onCommit: telling.note };
  let fleet: Fleet | undefined;

  async function run(): Promise<void> {
    await reset(shared, orgs);
    fleet = createFleet({ random, climate, now, start: (id) => startNode({ id, ...shares }) });
    const { pickNode, kill, stop, freeze, freezeTeller, cutFromBus, cutFromDatabase } = fleet;
    const many = (count: number, work: () => Promise<void>) => {
      for (let index = 0; index < count; index++) work().catch(onError);
    };
    const onRemoval = (hook: Hook) => void removed.add(hook);
    for (const hook of hooks) many(1, () => runHook({ random, climate, now, pickNode, onRemoval }, hook));
    const devices = { random, climate, now, pickNode, stays };
    for (const org of orgs)
      for (const uid of uids) many(random.integer(1, climate.devices), () => runDevice(devices, org, uid));
    many(climate.kills, kill);
    many(climate.stops, stop);
    many(climate.freezes, freeze);
    many(climate.frozenTellers, freezeTeller);
    many(climate.partitions, cutFromBus);
    many(climate.cutOffs, cutFromDatabase);
  }

  async function look(): Promise<void> {
    const endedAt = now();
    for (const hook of hooks) {
      const stored = await telling.storedFor(hook.ref);
      if (removed.has(hook)) {
        if (stored.length > 0 || (await telling.isFollowed(hook.ref)))
          broken.push(`${hook.ref} is gone, and not forgotten`);
        continue;
      }
      const open = stays.filter(({ org, to }) => org === hook.org && to === Number.POSITIVE_INFINITY);
      const present = [...new Set(open.map(({ uid }) => uid))].sort(compareBytes);
      const page = await fleet?.pickNode()?.presence.list(hook.org, { limit: 1_000, cursor: undefined });
      const own = posts.filter(({ url }) => url === hook.url);
      const online = page?.items.map(({ id }) => id) ?? [];
      const told = telling.of(hook.ref);
      const { freezes = [] } = fleet ?? {};
      const account = { climate, hook, told, posts: own, stays, freezes, present, online, stored, endedAt };
      broken.push(...judgePresence(account));
    }
  }

  try {
    run().catch(onError);
    time.pass(climate.activeMs + longestTroubleMs + settleMs);
    let isJudged = false;
    look()
      .then(() => {
        isJudged = true;
      })
      .catch(onError);
    time.pass(5_000);
    if (!isJudged && broken.length === 0) broken.push("nobody can say who is online");
    for (const node of fleet?.nodes() ?? []) node.kill();
    time.pass(5_000); // transactions end
  } catch (error) {
    broken.push(`the world fails: ${error}`);
  }
  return { seed, broken, figures: telling.figures() };
}

function hookOf(org: string, ref: string, { waitMs }: PresenceClimate): Hook {
  return { org, ref, url: `https://example.org/${ref}`, waitMs, since: 0 };
}

/** Empties the database, and creates organizations. */
async function reset(shared: Driver, orgs: string[]): Promise<void> {
  await shared.transaction(async (sql) => {
    for (const table of tables) await sql.run(`DELETE FROM ${table}`);
  });
  const { organizations } = createTestWrites(shared);
  for (const org of orgs) await organizations.put(org, undefined, 1);
}

function names(prefix: string, count: number): string[] {
  return Array.from({ length: count }, (_, index) => `${prefix}${index + 1}`);
}
