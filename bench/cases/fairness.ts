import { join } from "node:path";
import { idPlaceholder } from "../harness/clients/lane.ts";
import { type HeraldPeer, startHerald } from "../harness/herald.ts";
import { benchOrg, sendBody } from "../harness/organization.ts";
import { compare } from "../harness/report/report.ts";
import { type Contender, inRounds, type Measures, type Pace, type Series } from "../harness/report/rounds.ts";
import { openHeraldStage } from "../harness/stage.ts";
import type { Case, Findings } from "./case.ts";
import { connecting, connectsTo } from "./connects.ts";
import { type Cue, deliveriesOn } from "./deliveries.ts";
import { sendsTo, startLoad, warmUp } from "./sends.ts";

const callers = 64;
const listeners = 1000;
const linesOfBatch = 5_000;
const heavy = ["heavy-1", "heavy-2"] as const;
const light = Array.from({ length: 9 }, (_, index) => `light-${index + 1}`);
const neighbour = "neighbour";
const perSecondOfNeighbour = 3;
const perSecondOfLight = 100;
const documentedLimit = 5_000; // the default of HERALD_LIMIT_ORGANIZATION_REQUESTS_PER_SECOND
const noLess = { target: { atLeast: 0.95 } };

/**
 * Measures what one organization gets done alone, and while another one sends three messages a second; what two that send as
 * fast as they can get each; and whether nine that send a little lose anything to one that sends as fast as it can.
 */
export const fairness: Case = async (dataDir, pace) => {
  const herald = await startHerald(dataDir);
  await herald.putConversation(benchOrg.quiet, [connecting]);
  for (const org of [...heavy, ...light, neighbour]) await herald.putConversation(benchOrg.quiet, [], org);
  await warmUp(herald, pace.warmUpMs * 10);
  const cue: Cue = { onComplete: () => undefined };
  const stage = await openHeraldStage(herald, "hall", listeners, { onComplete: () => cue.onComplete() });

  const found: Findings = { series: {}, rows: [] };
  const named = { ...herald, name: "alone" };
  const contenders: Record<string, Contender> = {
    [`Sends, ${callers} callers`]: sendsTo(named, callers),
    [`Deliveries to ${listeners} sockets, 1 in flight`]: deliveriesOn({ ...stage, peer: named }, cue, 1),
    [`Deliveries to ${listeners} sockets, 16 in flight`]: deliveriesOn({ ...stage, peer: named }, cue, 16),
    "Lines of a batch": linesTo(named),
    "Connects, one after the other": connectsTo(named),
  };
  for (const [figure, contender] of Object.entries(contenders)) {
    const series = await inRounds([contender, besideNeighbour(herald, contender)], pace);
    found.series[figure] = series;
    found.rows.push(compare(series, { figure, unit: "/s", measure: "perSecond", floor: "alone", ...noLess }));
  }

  const together = await inRounds([sendsTo(named, callers), heavyTogether(herald)], pace);
  const figure = "Sends of two organizations together";
  found.series[figure] = together;
  found.rows.push(compare(together, { figure, unit: "/s", measure: "perSecond", floor: "alone", ...noLess }));
  const shares = await inRounds([lightOnes(herald, false), lightOnes(herald, true)], pace);
  const lightFigure = `Sends of ${light.length} organizations, ${perSecondOfLight} a second each, beside one with ${callers} callers`;
  found.series[lightFigure] = shares;
  found.rows.push(
    compare(shares, { figure: lightFigure, unit: "/s", measure: "perSecond", floor: "undisturbed", ...noLess }),
  );
  const least = Math.min(...(together.herald ?? []).map(({ leastShare = 0 }) => leastShare));
  found.tables = [
    `The smaller share of two organizations that send as fast as they can: ${least.toFixed(2)} in the worst run.`,
  ];
  stage.audience.close();
  await herald.stop();
  const limited = await limitedSends(join(dataDir, "limited"), pace);
  const limitFigure = "Sends of an organization that exceeds its default limit, beside a neighbour";
  found.series[limitFigure] = limited;
  found.rows.push(
    compare(limited, { figure: limitFigure, unit: "/s", measure: "perSecond", floor: "documented", ...noLess }),
  );
  return found;
};

/** What an organization gets of its default limit, while it asks for as much as it can. */
async function limitedSends(dataDir: string, pace: Pace): Promise<Series> {
  const settings = { HERALD_LIMIT_REQUESTS_PER_SECOND: "0" }; // of a key
  const herald = await startHerald(dataDir, settings, { areLimitsKept: true });
  for (const org of [benchOrg.id, neighbour]) await herald.putConversation(benchOrg.quiet, [], org);
  const exceeding: Contender = {
    name: "herald",
    async run(ms) {
      const load = await startLoad(herald, callers);
      const before = load.count();
      const startedAt = performance.now();
      await Bun.sleep(ms);
      const perSecond = ((load.count() - before) * 1000) / (performance.now() - startedAt);
      await load.stop({ mayExceedLimits: true });
      return { perSecond };
    },
  };
  const documented: Contender = { name: "documented", run: async () => ({ perSecond: documentedLimit }) };
  const series = await inRounds([documented, besideNeighbour(herald, exceeding)], pace);
  await herald.stop();
  return series;
}

/** The same, while another organization sends three messages a second. */
function besideNeighbour(herald: HeraldPeer, contender: Contender): Contender {
  return {
    name: "herald",
    async run(ms) {
      const sending = sendSteadily(herald, neighbour, perSecondOfNeighbour);
      const measures = await contender.run(ms);
      await sending.stop();
      return measures;
    },
  };
}

async function send(herald: HeraldPeer, org: string): Promise<void> {
  const id = crypto.randomUUID().replaceAll("-", "");
  const response = await fetch(`${herald.url}/admin/message`, {
    method: "POST",
    headers: { "Admin-Api-Key": benchOrg.key, "Content-Type": "application/json" },
    body: JSON.stringify(sendBody(benchOrg.quiet, org)).replace(idPlaceholder, id),
  });
  if (response.status !== 201) throw new Error(`a send was answered with ${response.status}`);
}

/** Sends at a steady rate, whether or not the sends before are answered. */
function sendSteadily(herald: HeraldPeer, org: string, perSecond: number) {
  const running: Promise<void>[] = [];
  let count = 0;
  const timer = setInterval(() => {
    running.push(send(herald, org).then(() => void count++));
  }, 1000 / perSecond);
  return {
    count: () => count,
    async stop(): Promise<void> {
      clearInterval(timer);
      await Promise.all(running);
    },
  };
}

/** Two organizations that send as fast as they can. */
function heavyTogether(herald: HeraldPeer): Contender {
  return {
    name: "herald",
    async run(ms): Promise<Measures> {
      const loads = await Promise.all(heavy.map((org) => startLoad(herald, callers, "random", org)));
      const before = loads.map((load) => load.count());
      const startedAt = performance.now();
      await Bun.sleep(ms);
      const counts = loads.map((load, index) => load.count() - (before[index] ?? 0));
      const elapsedMs = performance.now() - startedAt;
      await Promise.all(loads.map((load) => load.stop()));
      const all = counts.reduce((sum, count) => sum + count, 0);
      return { perSecond: (all * 1000) / elapsedMs, leastShare: Math.min(...counts) / all };
    },
  };
}

/** Organizations that send at a steady rate, alone or beside one that sends as fast as it can. */
function lightOnes(herald: HeraldPeer, isBeside: boolean): Contender {
  return {
    name: isBeside ? "herald" : "undisturbed",
    async run(ms): Promise<Measures> {
      const load = isBeside ? await startLoad(herald, callers, "random", heavy[0]) : undefined;
      const senders = light.map((org) => sendSteadily(herald, org, perSecondOfLight));
      await Bun.sleep(ms);
      const count = senders.reduce((sum, sender) => sum + sender.count(), 0);
      await Promise.all(senders.map((sender) => sender.stop()));
      await load?.stop();
      return { perSecond: (count * 1000) / ms };
    },
  };
}

/** Batches, one after the other. */
function linesTo(herald: HeraldPeer): Contender {
  const template = JSON.stringify(sendBody(benchOrg.quiet));
  return {
    name: herald.name,
    async run(ms): Promise<Measures> {
      const startedAt = performance.now();
      let lines = 0;
      while (performance.now() - startedAt < ms) {
        const body = Array.from({ length: linesOfBatch }, () =>
          template.replace(idPlaceholder, crypto.randomUUID().replaceAll("-", "")),
        ).join("\n");
        const response = await fetch(`${herald.url}/admin/message/batch`, {
          method: "POST",
          headers: { "Admin-Api-Key": benchOrg.key, "Content-Type": "application/x-ndjson" },
          body,
        });
        lines += (await response.text()).split('"status":201').length - 1;
      }
      return { perSecond: (lines * 1000) / (performance.now() - startedAt) };
    },
  };
}
