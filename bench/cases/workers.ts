import { join } from "node:path";
import { createThrottle, processTreeOf } from "../harness/cores.ts";
import { type HeraldPeer, startHerald } from "../harness/herald.ts";
import { benchOrg } from "../harness/organization.ts";
import { compare } from "../harness/report/report.ts";
import { inRounds } from "../harness/report/rounds.ts";
import { openHeraldStage } from "../harness/stage.ts";
import type { Case, Findings } from "./case.ts";
import { deliveriesOn } from "./deliveries.ts";
import { sendsTo, warmUp } from "./sends.ts";

const callers = 64;
const listeners = 1_000;
const share = 0.2;
const floor = "one-process";

/**
 * Measures what two workers on the embedded database get done beside one process. Each process may use a part of a core, as this
 * machine has too few of them.
 */
export const workers: Case = async (dataDir, pace) => {
  const throttle = createThrottle();
  if (throttle === undefined)
    throw new Error("this part needs control groups (version 1) and a user who may create them");
  const two = await startHerald(join(dataDir, "two"), {}, { workers: 2 });
  const one: HeraldPeer = { ...(await startHerald(join(dataDir, "one"))), name: floor };
  const open = async (peer: HeraldPeer) => {
    await peer.putConversation(benchOrg.quiet, []);
    await warmUp(peer, pace.warmUpMs * 5);
    const cue = { onComplete: () => undefined };
    const stage = await openHeraldStage(peer, "hall", listeners, { onComplete: () => cue.onComplete() });
    for (const pid of processTreeOf(peer.pid)) throttle.limit(pid, share);
    return { peer, stage, cue };
  };
  const stages = [await open(two), await open(one)];

  const found: Findings = { series: {}, rows: [] };
  const each = `each process with ${share} of a core`;
  for (const inFlight of [1, 16]) {
    const figure = `Deliveries, ${inFlight} in flight, two workers, ${each}`;
    const runs = await inRounds(
      stages.map(({ stage, cue }) => deliveriesOn(stage, cue, inFlight)),
      pace,
    );
    found.series[figure] = runs;
    found.rows.push(compare(runs, { figure, unit: "/s", measure: "perSecond", floor }));
  }
  const figure = `Sends, ${callers} callers, ids by time, two workers, ${each}`;
  const runs = await inRounds(
    stages.map(({ peer }) => sendsTo(peer, callers, "rising")),
    pace,
  );
  found.series[figure] = runs;
  found.rows.push(compare(runs, { figure, unit: "/s", measure: "perSecond", floor }));
  for (const { stage } of stages) stage.audience.close();
  throttle.lift();
  for (const { peer } of stages) await peer.stop();
  return found;
};
