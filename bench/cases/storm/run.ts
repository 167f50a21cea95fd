import { loadavg } from "node:os";
import type { Person } from "../../harness/clients/idle-clients.ts";
import type { StormReport } from "../../harness/clients/returning-clients.ts";
import { type Helper, startHelper } from "../../harness/helper.ts";
import { peakMemoryOf, startMeter } from "../../harness/meter.ts";
import { benchOrg } from "../../harness/organization.ts";
import type { Measures } from "../../harness/report/rounds.ts";
import { percentile } from "../../harness/report/statistics.ts";
import { startPeer } from "../../harness/servers.ts";
import type { StormAnswer, StormOrder } from "../../processes/storm.ts";
import type { VictimOrder, VictimReport } from "../../processes/victim.ts";
import { peopleOf, type StormFixture, victimOrg } from "./fixture.ts";

/**
 * How the clients come: on sockets that are already open or not, and as known users or as ones created on connecting.
 */
export type Variant = { what: string; isOpenBefore: boolean; areKnown: boolean };

const ofProcess = 5_000;
const calmMs = 10_000;
const victimEveryMs = 50;
const askEveryMs = 500;
const stormMayTakeMs = 90_000;

/** Starts a node, lets the clients in, and reports how they, the node and the victim fared. */
export async function runStorm(
  fixture: StormFixture,
  { isOpenBefore, areKnown }: Variant,
  size: number,
  round: number,
): Promise<Measures> {
  const [loadBefore = Number.NaN] = loadavg();
  const log = createErrorCount();
  const node = await fixture.startNode(log.hear);
  const people = areKnown ? peopleOf(size) : strangersOf(size, round);
  const route = await startPeer("bare-route", ["bench/peers/bare-route.ts"]);
  const victim = startCaller(node.url);
  const bystander = startCaller(route.url);
  const clients = await gather(node.url, people);

  await Promise.all([tell(victim), tell(bystander)]); // their first sends open their connections
  await Bun.sleep(calmMs);
  const [calm, calmBeside] = await Promise.all([tell(victim), tell(bystander)]);
  if (isOpenBefore) {
    await orderAll(clients, { want: "open" });
    await Promise.all([tell(victim), tell(bystander)]);
  }
  const errorsBefore = log.count();
  const stopMeter = startMeter(node.pid);
  for (const part of clients) part.tell({ want: "connect" });
  const reports = await untilIn(clients, size);
  const busy = stopMeter();
  const [stormy, stormyBeside] = await Promise.all([tell(victim), tell(bystander)]);
  const peakBytes = peakMemoryOf(node.pid);
  await Promise.all([victim, bystander, ...clients].map((helper) => helper.stop()));
  await Promise.all([node.stop(), route.stop()]);
  log.show();

  const inMs = reports.flatMap((report) => report.inMs);
  const sum = (of: (report: StormReport) => number) => reports.reduce((total, report) => total + of(report), 0);
  const failed = Object.values(stormy.failed).reduce((total, count) => total + count, 0);
  const isAllIn = inMs.length === size;
  return {
    in: sum((report) => report.in),
    allInSeconds: isAllIn ? percentile(inMs, 1) / 1000 : Number.POSITIVE_INFINITY,
    halfInSeconds: inMs.length * 2 < size ? Number.POSITIVE_INFINITY : medianOf(inMs, size) / 1000,
    attempts: sum((report) => report.attempts),
    lost: sum((report) => report.lost),
    errorLines: log.count() - errorsBefore,
    victimCalmP50Ms: percentile(calm.times, 0.5),
    victimCalmP99Ms: percentile(calm.times, 0.99),
    victimP50Ms: percentile(stormy.times, 0.5),
    victimP99Ms: percentile(stormy.times, 0.99),
    victimMaxMs: percentile(stormy.times, 1),
    victimP99Ratio: percentile(stormy.times, 0.99) / percentile(calm.times, 0.99),
    besideCalmP99Ms: percentile(calmBeside.times, 0.99),
    besideP50Ms: percentile(stormyBeside.times, 0.5),
    besideP99Ms: percentile(stormyBeside.times, 0.99),
    victimSends: stormy.times.length + failed,
    victimFailed: failed,
    peakMebibytes: peakBytes / 2 ** 20,
    nodeCpuSeconds: busy.serverCpuMs / 1000,
    loadBefore,
    ...added(
      "ended",
      reports.map(({ endings }) => endings),
    ),
    ...added(
      "refused",
      reports.map(({ refusals }) => refusals),
    ),
    ...added("victim", [stormy.failed]),
  };
}

type Caller = Helper<VictimOrder, VictimReport>;

function startCaller(url: string): Caller {
  const caller: Caller = startHelper("victim.ts");
  caller.tell({ url, org: victimOrg, everyMs: victimEveryMs });
  return caller;
}

type Part = Helper<StormOrder, StormAnswer>;

/** Starts the processes that share the clients, with their tokens signed. */
async function gather(url: string, people: readonly Person[]): Promise<Part[]> {
  const parts: Part[] = [];
  for (let from = 0; from < people.length; from += ofProcess) {
    const part: Part = startHelper("storm.ts");
    part.tell({ want: "sign", url, people: people.slice(from, from + ofProcess) });
    parts.push(part);
  }
  await Promise.all(parts.map((part) => part.next()));
  return parts;
}

async function orderAll(parts: readonly Part[], order: StormOrder): Promise<StormAnswer[]> {
  for (const part of parts) part.tell(order);
  return await Promise.all(parts.map((part) => part.next()));
}

/** The state once everyone is in or refused for good, or when time is up. */
async function untilIn(parts: readonly Part[], size: number): Promise<StormReport[]> {
  const endsAt = performance.now() + stormMayTakeMs;
  for (;;) {
    await Bun.sleep(askEveryMs);
    const answers = await orderAll(parts, { want: "tell" });
    const reports = answers.filter((answer) => answer !== "ready");
    const settled = reports.reduce((total, report) => total + report.in + report.lost, 0);
    if (settled === size || performance.now() > endsAt) return reports;
  }
}

async function tell(victim: Caller): Promise<VictimReport> {
  victim.tell({ tell: true });
  return await victim.next();
}

/**
 * Counts the log lines of a node that are errors (pino's level 50 and above) or report a 5xx response, and prints each
 * different one once.
 */
function createErrorCount() {
  const said = new Map<string, number>();
  let total = 0;
  return {
    hear(line: string): void {
      if (!/^\{"level":[56]0,|"status":5\d\d/.test(line)) return;
      total++;
      const { msg, err, status = "" } = JSON.parse(line);
      const what = `${msg} ${status}${err === undefined ? "" : `: ${err.message ?? ""} ${err.detail ?? ""}`}`;
      said.set(what, (said.get(what) ?? 0) + 1);
    },
    count: () => total,
    show(): void {
      for (const [what, times] of said) console.error(`    ${times} × ${what}`);
    },
  };
}

/** When half of all clients were in; those who never got in count as the last. */
function medianOf(inMs: readonly number[], size: number): number {
  return percentile(inMs, size / 2 / inMs.length);
}

function added(title: string, counts: readonly Record<string, number>[]): Measures {
  const sums: Measures = {};
  for (const [name, count] of counts.flatMap((one) => Object.entries(one)))
    sums[`${title}: ${name}`] = (sums[`${title}: ${name}`] ?? 0) + count;
  return sums;
}

function strangersOf(size: number, round: number): Person[] {
  return Array.from({ length: size }, (_, index) => ({ org: benchOrg.id, uid: `stranger-${round}-${index}` }));
}
