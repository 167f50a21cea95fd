import { join } from "node:path";
import { type Checkout, checkoutsOf } from "../harness/checkouts.ts";
import { startHerald } from "../harness/herald.ts";
import { house } from "../harness/house.ts";
import { type Contender, inRounds } from "../harness/report/rounds.ts";
import { renderSideBySide } from "../harness/report/side-by-side.ts";
import { openHeraldStage } from "../harness/stage.ts";
import type { Case, Findings } from "./case.ts";
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

/** Measures sends and deliveries of this checkout and of another by turns: has a change made them slower? */
export const regression: Case = async (dataDir, pace, { against }) => {
  if (against === undefined) throw new Error("regression compares two checkouts: name the other one with --against");
  const places: Awaited<ReturnType<typeof openPlace>>[] = [];
  for (const checkout of checkoutsOf(against)) places.push(await openPlace(dataDir, checkout, pace.warmUpMs * 10));

  const found: Findings & { tables: string[] } = { series: {}, rows: [], tables: [] };
  const compare = async (
    title: string,
    contenders: Contender[],
    measured: typeof sendsMeasured | typeof deliveriesMeasured,
  ) => {
    console.error(`  ${title}`);
    const series = await inRounds(contenders, pace);
    found.series[title] = series;
    found.tables.push(renderSideBySide(title, series, measured));
  };
  const sending = (count: number, ids: "random" | "rising") =>
    places.map(({ name, herald }) => ({ ...sendsTo(herald, count, ids), name }));
  const delivering = (inFlight: number) =>
    places.map(({ name, stage, cue }) => ({ ...deliveriesOn(stage, cue, inFlight), name }));

  await compare("1 caller", sending(1, "random"), sendsMeasured);
  await compare(`${callers} callers, random ids`, sending(callers, "random"), sendsMeasured);
  await compare(`${callers} callers, ids by time`, sending(callers, "rising"), sendsMeasured);
  for (const inFlight of [1, 16])
    await compare(`${crowd} listeners, ${inFlight} in flight`, delivering(inFlight), deliveriesMeasured);

  for (const { herald, stage } of places) {
    stage.audience.close();
    await herald.stop();
  }
  return found;
};

/** Starts a node of the checkout, warm, with its listeners connected. */
async function openPlace(dataDir: string, { name, root }: Checkout, warmUpMs: number) {
  const herald = await startHerald(join(dataDir, name), {}, { root });
  await herald.putConversation(house.quiet, []);
  await warmUp(herald, warmUpMs); // the compiler needs about eight seconds for it
  const cue: Cue = { onComplete: () => undefined };
  const stage = await openHeraldStage(herald, conversation, crowd, { onComplete: () => cue.onComplete() });
  return { name, herald, stage, cue };
}
