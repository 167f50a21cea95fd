import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { type Checkout, checkoutsOf } from "../harness/checkouts.ts";
import { startHerald } from "../harness/herald.ts";
import { house } from "../harness/house.ts";
import { inRounds, type Pace, type Series } from "../harness/report/rounds.ts";
import { renderSideBySide } from "../harness/report/side-by-side.ts";
import { openHeraldStage } from "../harness/stage.ts";
import type { Case } from "./case.ts";
import { type Cue, deliveriesOn } from "./deliveries.ts";
import { sendsTo, warmUp } from "./sends.ts";

const callers = 64;
const crowd = 1000;
const conversation = "hall";

const sendsMeasured = {
  perSecond: ["sends", "/s"],
  serverCpuMicros: ["CPU of a send", "µs"],
  othersBusy: ["other programs, in cores", ""],
} as const;

const deliveriesMeasured = {
  perSecond: ["deliveries", "/s"],
  cpuMicrosPerDelivery: ["CPU of a delivery", "µs"],
  othersBusy: ["other programs, in cores", ""],
} as const;

/**
 * Measures sends and deliveries of this checkout and of another by turns: has a change made them slower? Two nodes of one
 * checkout differ by up to 8 %, however long they run, so each round starts two of its own.
 */
export const regression: Case = async (dataDir, pace, { against }) => {
  if (against === undefined) throw new Error("regression compares two checkouts: name the other one with --against");
  const checkouts = checkoutsOf(against);
  const series: Record<string, Series> = {};
  for (let pair = 0; pair < pace.rounds; pair++) {
    const dir = join(dataDir, `${pair}`);
    mkdirSync(dir);
    console.error(`  pair ${pair + 1} of ${pace.rounds}`);
    const ofPair = await measurePair(dir, pair % 2 === 0 ? checkouts : checkouts.toReversed(), { ...pace, rounds: 1 });
    for (const [title, found] of Object.entries(ofPair)) {
      const all = series[title] ?? {};
      for (const { name } of checkouts) all[name] = [...(all[name] ?? []), ...(found[name] ?? [])];
      series[title] = all;
    }
  }
  const tables = Object.entries(series).map(([title, found]) =>
    renderSideBySide(title, found, title.includes("listeners") ? deliveriesMeasured : sendsMeasured),
  );
  return { series, rows: [], tables };
};

/** Measures a node of each checkout. */
async function measurePair(dataDir: string, checkouts: Checkout[], pace: Pace): Promise<Record<string, Series>> {
  const places: Awaited<ReturnType<typeof openPlace>>[] = [];
  for (const checkout of checkouts) places.push(await openPlace(dataDir, checkout, pace.warmUpMs * 10));
  const sending = (count: number, ids: "random" | "rising") =>
    places.map(({ name, herald }) => ({ ...sendsTo(herald, count, ids), name }));
  const delivering = (inFlight: number) =>
    places.map(({ name, stage, cue }) => ({ ...deliveriesOn(stage, cue, inFlight), name }));
  const found = {
    "1 caller": await inRounds(sending(1, "random"), pace),
    [`${callers} callers, random ids`]: await inRounds(sending(callers, "random"), pace),
    [`${callers} callers, ids by time`]: await inRounds(sending(callers, "rising"), pace),
    [`${crowd} listeners, 1 in flight`]: await inRounds(delivering(1), pace),
    [`${crowd} listeners, 16 in flight`]: await inRounds(delivering(16), pace),
  };
  for (const { herald, stage } of places) {
    stage.audience.close();
    await herald.stop();
  }
  return found;
}

/** Starts a node of the checkout, warm, with its listeners connected. */
async function openPlace(dataDir: string, { name, root }: Checkout, warmUpMs: number) {
  const herald = await startHerald(join(dataDir, name), {}, { root });
  await herald.putConversation(house.quiet, []);
  await warmUp(herald, warmUpMs); // the compiler needs about eight seconds for it
  const cue: Cue = { onComplete: () => undefined };
  const stage = await openHeraldStage(herald, conversation, crowd, { onComplete: () => cue.onComplete() });
  await deliveriesOn(stage, cue, 1).run(warmUpMs); // deliveries have code of their own to compile
  return { name, herald, stage, cue };
}
