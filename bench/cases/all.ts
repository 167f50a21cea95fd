import { type HeraldPeer, startHerald } from "../harness/herald.ts";
import { benchOrg } from "../harness/organization.ts";
import { compare } from "../harness/report/report.ts";
import { inRounds, type Pace } from "../harness/report/rounds.ts";
import { startPeer } from "../harness/servers.ts";
import { openBareStage, openHeraldStage } from "../harness/stage.ts";
import type { Case, Findings } from "./case.ts";
import { costs } from "./costs/costs.ts";
import { deliveriesOfLoop, deliveriesOn } from "./deliveries.ts";
import { everyone } from "./everyone.ts";
import { fairness } from "./fairness.ts";
import { growth } from "./growth.ts";
import { idle } from "./idle.ts";
import { inboxes } from "./inboxes.ts";
import { latencyOn } from "./latency.ts";
import { nodes } from "./nodes.ts";
import { pausesOf, startProbe } from "./pauses.ts";
import { regression } from "./regression.ts";
import { replay } from "./replay.ts";
import { sama } from "./sama.ts";
import { insertsOf, sendsTo, warmUp } from "./sends.ts";
import { storm } from "./storm.ts";
import { sendsBeside } from "./strangers.ts";
import { openPatient, sendsBesideWaits } from "./waits.ts";
import { workers } from "./workers.ts";

const callers = 64;
const listeners = 1000;
const few = 3;
const conversation = "hall";
const waiting = 1000; // the most that an organization may have
const strangers = { halves: 10_000, uploads: 1_000 };

const sends: Case = async (dataDir, pace) => {
  const herald = await startWarmHerald(dataDir, pace);
  const route = await startPeer("bare-route", ["bench/peers/bare-route.ts"]);
  const single = await startPeer("one-per-commit", ["bench/peers/one-per-commit.ts", dataDir]);
  const loop = await startPeer("insert-loop", ["bench/peers/insert-loop.ts", dataDir]);
  const ceiling = await startPeer("ceiling", ["bench/peers/ceiling.ts"]);

  const alone = await inRounds([sendsTo(herald, 1), sendsTo(route, 1), sendsTo(single, 1)], pace);
  const many = await inRounds(
    [
      sendsTo(herald, callers),
      sendsTo(route, callers),
      sendsTo(single, callers),
      insertsOf(loop),
      sendsTo(ceiling, callers),
    ],
    pace,
  );
  const rising = await inRounds(
    [herald, route, single].map((peer) => sendsTo(peer, callers, "rising")),
    pace,
  );
  for (const peer of [herald, route, single, loop, ceiling]) await peer.stop();

  const perSecond = { unit: "/s", measure: "perSecond" };
  const cpu = { unit: "µs", measure: "serverCpuMicros" };
  const [one, all] = ["Sends, 1 caller", `Sends, ${callers} callers, random ids`];
  const byTime = `Sends, ${callers} callers, ids by time`;
  return {
    series: { [one]: alone, [all]: many, [byTime]: rising },
    rows: [
      compare(alone, { figure: one, ...perSecond, floor: "bare-route" }),
      compare(alone, { figure: one, ...perSecond, floor: "one-per-commit" }),
      compare(many, { figure: all, ...perSecond, floor: "bare-route", target: { atLeast: 0.4 } }),
      compare(many, { figure: all, ...perSecond, floor: "one-per-commit", target: { atLeast: 8 } }),
      compare(many, { figure: all, ...perSecond, floor: "insert-loop" }),
      compare(many, { figure: all, ...perSecond, floor: "ceiling" }),
      compare(rising, { figure: byTime, ...perSecond, floor: "bare-route", target: { atLeast: 0.4 } }),
      compare(rising, { figure: byTime, ...perSecond, floor: "one-per-commit", target: { atLeast: 8 } }),
      compare(many, { figure: "CPU of a send, random ids", ...cpu, floor: "bare-route" }),
      compare(rising, { figure: "CPU of a send, ids by time", ...cpu, floor: "bare-route" }),
    ],
  };
};

const deliveries: Case = async (dataDir, pace) => {
  const herald = await startWarmHerald(dataDir, pace);
  const heraldCue = { onComplete: () => undefined };
  const bareCue = { onComplete: () => undefined };
  const heard = await openHeraldStage(herald, conversation, listeners, { onComplete: () => heraldCue.onComplete() });
  const bare = await startPeer("bare-publish", ["bench/peers/bare-publish.ts"], frameOf(heard.audience.payloadBytes()));
  const floor = await openBareStage(bare, conversation, listeners, { onComplete: () => bareCue.onComplete() });

  const found: Findings = { series: {}, rows: [] };
  for (const inFlight of [1, 16]) {
    const contenders = [
      deliveriesOn(heard, heraldCue, inFlight),
      deliveriesOn(floor, bareCue, inFlight),
      deliveriesOfLoop(floor, inFlight),
    ];
    const series = await inRounds(contenders, pace);
    const figure = `Deliveries, ${inFlight} in flight`;
    const perSecond = { figure, unit: "/s", measure: "perSecond" };
    const cpu = { figure: `CPU of a delivery, ${inFlight} in flight`, unit: "µs", measure: "cpuMicrosPerDelivery" };
    found.series[figure] = series;
    found.rows.push(
      compare(series, { ...perSecond, floor: "bare-publish", target: { atLeast: 0.8 } }),
      compare(series, { ...perSecond, floor: "bare-publish-loop" }),
      compare(series, { ...cpu, floor: "bare-publish" }),
      compare(series, { ...cpu, floor: "bare-publish-loop" }),
    );
  }
  for (const { audience } of [heard, floor]) audience.close();
  for (const peer of [herald, bare]) await peer.stop();
  return found;
};

const latency: Case = async (dataDir, pace) => {
  const herald = await startWarmHerald(dataDir, pace);
  const heraldEar = { onFrame: () => undefined };
  const bareEar = { onFrame: () => undefined };
  const heard = await openHeraldStage(herald, conversation, few, { onFrame: () => heraldEar.onFrame() });
  const bare = await startPeer("bare-publish", ["bench/peers/bare-publish.ts"], frameOf(heard.audience.payloadBytes()));
  const floor = await openBareStage(bare, conversation, few, { onFrame: () => bareEar.onFrame() });
  const series = await inRounds([latencyOn(heard, heraldEar), latencyOn(floor, bareEar)], pace);
  for (const { audience } of [heard, floor]) audience.close();
  for (const peer of [herald, bare]) await peer.stop();

  const figure = `POST to frame, ${few} recipients, idle`;
  const ms = { unit: "ms", floor: "bare-publish" };
  return {
    series: { [figure]: series },
    rows: [
      compare(series, { figure: `${figure}: p50`, measure: "p50Ms", ...ms }),
      compare(series, { figure: `${figure}: p99`, measure: "p99Ms", ...ms }),
    ],
  };
};

const pauses: Case = async (dataDir, pace) => {
  const herald = await startWarmHerald(dataDir, pace);
  const route = await startPeer("bare-route", ["bench/peers/bare-route.ts"]);
  const probe = startProbe();
  const contenders = [pausesOf(herald, probe, callers), pausesOf(route, probe, callers), pausesOf(herald, probe, 0)];
  const series = await inRounds(contenders, pace);
  probe.stop();
  for (const peer of [herald, route]) await peer.stop();

  const figure = `/healthz while ${callers} callers send`;
  const rows = ["bare-route", "herald-idle"].flatMap((floor) => [
    compare(series, { figure: `${figure}: p50`, unit: "ms", measure: "p50Ms", floor }),
    compare(series, { figure: `${figure}: p99`, unit: "ms", measure: "p99Ms", floor }),
    compare(series, { figure: `${figure}: worst`, unit: "ms", measure: "maxMs", floor }),
  ]);
  return { series: { [figure]: series }, rows };
};

const beside: Case = async (dataDir, pace) => {
  const herald = await startWarmHerald(dataDir, pace);
  const series = await inRounds([sendsBeside(herald, strangers), sendsBeside(herald, undefined)], pace);
  await herald.stop();

  const figure = `A send beside ${strangers.halves} half handshakes and ${strangers.uploads} slow uploads`;
  const ms = { unit: "ms", floor: "herald-undisturbed" };
  return {
    series: { [figure]: series },
    rows: [
      compare(series, { figure: `${figure}: p50`, measure: "p50Ms", ...ms }),
      compare(series, { figure: `${figure}: p99`, measure: "p99Ms", ...ms, target: { atMost: 2 } }),
    ],
  };
};

const besideWaits: Case = async (dataDir, pace) => {
  const herald = await startWarmHerald(dataDir, pace);
  const patient = await openPatient(herald);
  const contenders = [true, false].map((isWaiting) => sendsBesideWaits(herald, waiting, isWaiting, callers));
  const series = await inRounds(contenders, pace);
  patient.close();
  await herald.stop();

  const figure = `${callers} callers beside ${waiting} who wait for a delivery`;
  const floor = "herald-undisturbed";
  return {
    series: { [figure]: series },
    rows: [
      compare(series, { figure: `${figure}: sends`, unit: "/s", measure: "perSecond", floor }),
      compare(series, { figure: `${figure}: p50`, unit: "ms", measure: "p50Ms", floor }),
      compare(series, { figure: `${figure}: p99`, unit: "ms", measure: "p99Ms", floor }),
      compare(series, { figure: `${figure}: CPU of a send`, unit: "µs", measure: "serverCpuMicros", floor }),
    ],
  };
};

async function startWarmHerald(dataDir: string, { warmUpMs }: Pace): Promise<HeraldPeer> {
  const herald = await startHerald(dataDir);
  await herald.putConversation(benchOrg.quiet, []);
  await warmUp(herald, warmUpMs * 10); // the compiler needs about eight seconds for it
  return herald;
}

/** Every part of the bench by its command line name, in the order in which they run. */
export const cases: Readonly<Record<string, Case>> = {
  sends,
  deliveries,
  latency,
  pauses,
  strangers: beside,
  nodes,
  costs,
  idle,
  storm,
  replay,
  waits: besideWaits,
  everyone,
  inboxes,
  fairness,
  growth,
  workers,
  sama,
  regression,
};

/** Parts that run only when named, as they serve to judge a change. */
export const onRequest: ReadonlySet<string> = new Set([
  "idle",
  "storm",
  "replay",
  "waits",
  "everyone",
  "inboxes",
  "fairness",
  "growth",
  "workers",
  "sama",
  "regression",
]);

function frameOf(bytes: number): Record<string, string> {
  return { BENCH_FRAME_BYTES: String(bytes) };
}
