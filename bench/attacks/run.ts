import { loadavg } from "node:os";
import { openIdleClients } from "../harness/clients/idle-clients.ts";
import { type Helper, startHelper } from "../harness/helper.ts";
import { cpuMsOf, memoryOf, peakMemoryOf } from "../harness/meter.ts";
import { benchOrg } from "../harness/organization.ts";
import { waitForPorts } from "../harness/ports.ts";
import type { Measures } from "../harness/report/rounds.ts";
import { percentile } from "../harness/report/statistics.ts";
import { startPeer } from "../harness/servers.ts";
import type { AttackerOrder, AttackerReport } from "../processes/attacker.ts";
import type { VictimOrder, VictimReport } from "../processes/victim.ts";
import type { Attack, Target } from "./attack.ts";
import { addHeard, wasTold } from "./clients/tally.ts";
import { type Fixture, victimOrg } from "./fixture.ts";
import { startFlushProbe } from "./flush-probe.ts";
import { endedUnheard, inspectionsAfter, inspectionsDuring } from "./inspections.ts";

/** The length of an attack, and of the undisturbed time before it. */
export type Length = { calmMs: number; attackMs: number };

const victimEveryMs = 50;
const warmUpMs = 3_000;
const warmUpCallers = 4;
const warmUpPauseMs = 8; // some 400 sends a second, well below a key's limit
const warmUpVisitors = 20;
const visitPauseMs = 200; // more often, and they would be told to wait
const prefixOfHeard = "heard: ";

type Caller = Helper<VictimOrder, VictimReport>;
type Attackers = Helper<AttackerOrder, AttackerReport>;

/**
 * Starts a node on a copy of the fixture, lets the victim send in peace and then under attack, and reports how that
 * went.
 */
export async function runAttack(
  fixture: Fixture,
  attack: Attack,
  { calmMs, attackMs }: Length,
  round: number,
): Promise<Measures> {
  await waitForPorts();
  const [loadBefore = Number.NaN] = loadavg();
  const { victimKey, ...known } = fixture.known;
  const attacked = await fixture.startNode();
  const { node } = attacked;
  const route = await startPeer("bare-route", ["bench/peers/bare-route.ts"]);
  await warmUp(node.url, victimKey);
  const victim = startCaller(node.url, victimKey);
  const bystander = startCaller(route.url, victimKey);
  const attackers: Attackers[] = Array.from({ length: attack.processes ?? 1 }, () =>
    startHelper("attacker.ts", { idle: true }),
  );
  const target: Target = { ...known, url: node.url, run: `${round}` };
  const flushes = await startFlushProbe(attacked.folder);
  const inspectAfter = await inspectionsAfter[attack.name]?.({ attacked, target });

  await Promise.all([tell(victim), tell(bystander)]); // their first sends open their connections
  await Bun.sleep(calmMs);
  const [calm, calmBeside] = await Promise.all([tell(victim), tell(bystander)]);
  const [cpuBefore, memoryBefore] = [cpuMsOf(node.pid), memoryOf(node.pid)];
  flushes.take();
  const begunAt = performance.now();
  for (const part of attackers) part.tell({ attack: attack.name, target });
  await Bun.sleep(attackMs);
  const restMs = (attack.leastMs ?? 0) - attackMs;
  const first = restMs > 0 ? await tell(victim) : undefined; // the beginning of a long attack is judged separately
  if (restMs > 0) await Bun.sleep(restMs);
  const isAlive = isRunning(node.pid);
  const cpuMs = isAlive ? cpuMsOf(node.pid) - cpuBefore : Number.NaN;
  const elapsedMs = performance.now() - begunAt;
  const heard = addHeard(await Promise.all(attackers.map(hear)));
  const during = isAlive ? await inspectionsDuring[attack.name]?.({ attacked, target, heard }) : undefined;
  const flushTimes = flushes.take();
  const hearing = Promise.all([tell(victim), tell(bystander)]); // sends in flight are awaited
  await Promise.all(attackers.map((part) => part.stop()));
  const [underAttack, attackedBeside] = await hearing;
  const peak = isRunning(node.pid) ? peakMemoryOf(node.pid) : Number.NaN;
  const after = isRunning(node.pid) ? await inspectAfter?.() : undefined;
  await Promise.all([victim.stop(), bystander.stop(), flushes.stop()]);
  await Promise.all([attacked.stop(), route.stop()]);

  const parts = first === undefined ? [underAttack] : [first, underAttack];
  const times = parts.flatMap((part) => part.times);
  const failures = addHeard(parts.map((part) => part.failed));
  const failed = Object.values(failures).reduce((total, count) => total + count, 0);
  return {
    calmP50Ms: percentile(calm.times, 0.5),
    calmP99Ms: percentile(calm.times, 0.99),
    p50Ms: percentile(times, 0.5),
    p99Ms: Math.max(...parts.map((part) => percentile(part.times, 0.99))),
    maxMs: percentile(times, 1),
    victimSends: times.length + failed,
    victimFailed: failed,
    besideCalmP99Ms: percentile(calmBeside.times, 0.99),
    besideP99Ms: percentile(attackedBeside.times, 0.99),
    flushP99Ms: percentile(flushTimes, 0.99),
    peakMebibytes: peak / 2 ** 20,
    grownMebibytes: Math.max(0, peak - memoryBefore) / 2 ** 20,
    nodeCores: cpuMs / elapsedMs,
    died: isAlive ? 0 : 1,
    told: wasTold(heard) || (during?.[endedUnheard] ?? 0) > 0 ? 1 : 0,
    mustBeTold: attack.mustBeTold ? 1 : 0,
    loadBefore,
    ...prefixed("victim: ", failures),
    ...prefixed(prefixOfHeard, heard),
    ...during,
    ...after,
  };
}

/** What attackers heard in one round, most frequent first. */
export function heardIn(measures: Measures): [what: string, times: number][] {
  return Object.entries(measures)
    .filter(([name]) => name.startsWith(prefixOfHeard))
    .map(([name, times]): [string, number] => [name.slice(prefixOfHeard.length), times])
    .sort(([, left], [, right]) => right - left);
}

function startCaller(url: string, key: string): Caller {
  const caller: Caller = startHelper("victim.ts");
  caller.tell({ url, org: victimOrg, everyMs: victimEveryMs, key });
  return caller;
}

async function tell(caller: Caller): Promise<VictimReport> {
  caller.tell({ tell: true });
  return await caller.next();
}

async function hear(attackers: Attackers): Promise<AttackerReport> {
  attackers.tell({ tell: true });
  return await attackers.next();
}

/** Sends and connects from the victim's own organization, so that the node's code is compiled. */
async function warmUp(url: string, key: string): Promise<void> {
  const endsAt = performance.now() + warmUpMs;
  const message = { cid: benchOrg.quiet, body: "getting warm" };
  const body = JSON.stringify({ organizationId: victimOrg, senderId: benchOrg.sender, message });
  const headers = { "Admin-Api-Key": key, "Content-Type": "application/json" };
  const sendOn = async () => {
    while (performance.now() < endsAt) {
      const response = await fetch(`${url}/admin/message`, { method: "POST", headers, body });
      const text = await response.text();
      if (response.status !== 201) throw new Error(`a send was answered ${response.status}: ${text}`);
      await Bun.sleep(warmUpPauseMs);
    }
  };
  const visitOn = async (kind: "socket" | "stream") => {
    const visitors = Array.from({ length: warmUpVisitors }, (_, index) => ({
      org: victimOrg,
      uid: `${kind}-${index}`,
    }));
    while (performance.now() < endsAt) {
      const clients = await openIdleClients({ url }, visitors, kind);
      await clients.close();
      await Bun.sleep(visitPauseMs);
    }
  };
  await Promise.all([...Array.from({ length: warmUpCallers }, sendOn), visitOn("socket"), visitOn("stream")]);
}

function isRunning(pid: number): boolean {
  try {
    return memoryOf(pid) > 0;
  } catch {
    return false; // it has no entry in /proc
  }
}

function prefixed(prefix: string, counts: Record<string, number>): Measures {
  return Object.fromEntries(Object.entries(counts).map(([name, count]) => [prefix + name, count]));
}
