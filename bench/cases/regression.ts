import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { type Checkout, checkoutsOf } from "../harness/checkouts.ts";
import { startHerald } from "../harness/herald.ts";
import { benchOrg } from "../harness/organization.ts";
import { inRounds, type Pace, type Series } from "../harness/report/rounds.ts";
import { type Measured, renderPairs } from "../harness/report/side-by-side.ts";
import { openHeraldStage } from "../harness/stage.ts";
import type { Case, Findings } from "./case.ts";
import { connecting, connectsTo } from "./connects.ts";
import { type Cue, deliveriesOn } from "./deliveries.ts";
import { sendsTo, systemSendsTo, warmUp } from "./sends.ts";

const callers = 64;
const listeners = 1000;
const conversation = "hall";
const addressed = ["one", "two", "three"];

const sendsMeasured = {
  perSecond: ["sends", "/s"],
  serverCpuMicros: ["CPU of a send", "µs"],
  othersBusy: ["other programs, in cores", ""],
} as const;

const connectsMeasured = {
  perSecond: ["connects", "/s"],
  serverCpuMicros: ["CPU of a connect", "µs"],
  othersBusy: ["other programs, in cores", ""],
} as const;

const deliveriesMeasured = {
  perSecond: ["deliveries", "/s"],
  cpuMicrosPerDelivery: ["CPU of a delivery", "µs"],
  othersBusy: ["other programs, in cores", ""],
} as const;

// The runs of one pair differ by 7 %, the pairs by 2 %, and a pair takes half a minute to warm up.
const runsOfPair = 6;

/** The runs with one kind of load. */
type Part = { measured: Measured; series: Series };

/** A node of a checkout, warm, with its listeners connected. */
type Place = Awaited<ReturnType<typeof openPlace>>;

const sends =
  (count: number, ids: "random" | "rising") =>
  async (places: readonly Place[], pace: Pace): Promise<Part> => {
    const contenders = places.map(({ name, herald }) => ({ ...sendsTo(herald, count, ids), name }));
    return { measured: sendsMeasured, series: await inRounds(contenders, pace) };
  };

async function systemSends(places: readonly Place[], pace: Pace): Promise<Part> {
  const contenders = places.map(({ name, herald }) => ({ ...systemSendsTo(herald, callers, addressed), name }));
  return { measured: sendsMeasured, series: await inRounds(contenders, pace) };
}

const deliveries =
  (inFlight: number) =>
  async (places: readonly Place[], pace: Pace): Promise<Part> => {
    const contenders = places.map(({ name, stage, cue }) => ({ ...deliveriesOn(stage, cue, inFlight), name }));
    return { measured: deliveriesMeasured, series: await inRounds(contenders, pace) };
  };

async function connects(places: readonly Place[], pace: Pace): Promise<Part> {
  const contenders = places.map(({ name, herald }) => ({ ...connectsTo(herald), name }));
  return { measured: connectsMeasured, series: await inRounds(contenders, pace) };
}

/** Measures nodes of several checkouts by turns under one kind of load. */
type RunLoad = (places: readonly Place[], pace: Pace) => Promise<Part>;

/** The kinds of load. */
export const loads: Readonly<Record<string, RunLoad>> = {
  "1 caller": sends(1, "random"),
  [`${callers} callers, random ids`]: sends(callers, "random"),
  [`${callers} callers, ids by time`]: sends(callers, "rising"),
  [`${callers} callers, system messages to ${addressed.length} users`]: systemSends,
  [`${listeners} listeners, 1 in flight`]: deliveries(1),
  [`${listeners} listeners, 16 in flight`]: deliveries(16),
  "connects, one after the other": connects,
};

/**
 * Measures sends, deliveries and connects of this checkout and of another by turns: has a change made them slower? Two nodes of one
 * checkout differ by up to 8 %, however long they run, so each round starts two of its own.
 */
export const regression: Case = async (dataDir, pace, { against }) => {
  if (against === undefined) throw new Error("regression compares two checkouts: name the other one with --against");
  const checkouts = checkoutsOf(against);
  const pairs: Record<string, Part>[] = [];
  for (let pair = 0; pair < pace.rounds; pair++) {
    const dir = join(dataDir, `${pair}`);
    mkdirSync(dir);
    console.error(`  pair ${pair + 1} of ${pace.rounds}`);
    const inTurn = pair % 2 === 0 ? checkouts : checkouts.toReversed();
    pairs.push(await measurePair(dir, inTurn, { ...pace, rounds: runsOfPair }, loads));
  }
  const found: Required<Findings> = { series: {}, rows: [], tables: [] };
  for (const [title, { measured }] of Object.entries(pairs[0] ?? {})) {
    const runsOf = (name: string) => pairs.flatMap((ofPair) => ofPair[title]?.series[name] ?? []);
    const series = Object.fromEntries(checkouts.map(({ name }) => [name, runsOf(name)]));
    found.series[title] = series;
    found.tables.push(renderPairs(title, series, measured, runsOfPair));
  }
  return found;
};

/** Measures a node of each checkout under these loads. */
export async function measurePair(
  dataDir: string,
  checkouts: Checkout[],
  pace: Pace,
  chosen: Readonly<Record<string, RunLoad>>,
): Promise<Record<string, Part>> {
  const places: Place[] = [];
  for (const checkout of checkouts) places.push(await openPlace(dataDir, checkout, pace.warmUpMs * 10));
  const found: Record<string, Part> = {};
  for (const [title, run] of Object.entries(chosen)) found[title] = await run(places, pace);
  for (const { herald, stage } of places) {
    stage.audience.close();
    await herald.stop();
  }
  return found;
}

/** Starts a node of the checkout, warm, with its listeners connected. */
async function openPlace(dataDir: string, { name, root }: Checkout, warmUpMs: number) {
  const herald = await startHerald(join(dataDir, name), {}, { root });
  await herald.putConversation(benchOrg.quiet, [connecting]);
  await herald.putConversation("addressed", addressed);
  await warmUp(herald, warmUpMs); // the compiler needs about eight seconds for it
  const cue: Cue = { onComplete: () => undefined };
  const stage = await openHeraldStage(herald, conversation, listeners, { onComplete: () => cue.onComplete() });
  await deliveriesOn(stage, cue, 1).run(warmUpMs); // deliveries have code of their own to compile
  return { name, herald, stage, cue };
}
