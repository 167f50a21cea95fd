import { createRequestTemplate, openLanes } from "../harness/clients/lane.ts";
import type { HeraldPeer } from "../harness/herald.ts";
import { startMeter } from "../harness/meter.ts";
import { benchOrg, sendBody } from "../harness/organization.ts";
import type { Contender } from "../harness/report/rounds.ts";
import { spreadOf } from "../harness/report/statistics.ts";
import { shares } from "./sends.ts";

const patience = "patience";
const patientUid = "patient";
const lookAgainMs = 20;
const settleMs = 500;
const longestWait = ["Prefer: wait=30"];

/** Connects a user who acknowledges one message, so that sends wait for it, and then none. */
export async function openPatient(herald: HeraldPeer): Promise<WebSocket> {
  await herald.putConversation(patience, [patientUid]);
  const [token = ""] = await herald.tokensOf([patientUid]);
  const socket = new WebSocket(`${herald.url.replace("http", "ws")}/ws`);
  const hear = () =>
    new Promise<void>((resolve) => socket.addEventListener("message", () => resolve(), { once: true }));
  await new Promise((resolve) => socket.addEventListener("open", resolve));
  for (const [id, request] of Object.entries([{ connect: { token } }, { ack: { ids: ["anything"] } }])) {
    const answered = hear();
    socket.send(JSON.stringify({ request: { ...request, id } }));
    await answered;
  }
  return socket;
}

/**
 * Measures the sends of callers in a hurry, after as many `others` have sent to the patient, who now wait or are
 * answered and idle.
 */
export function sendsBesideWaits(herald: HeraldPeer, others: number, isWaiting: boolean, callers: number): Contender {
  return {
    name: isWaiting ? herald.name : `${herald.name}-undisturbed`,
    async run(ms) {
      const waiters = await openLanes(requestTo(herald, patience, isWaiting ? longestWait : []), others);
      const answers = waiters.map((lane) => new Promise<number>((answered) => lane.send(answered)));
      if (isWaiting) await watchesBecome(herald, others);
      else await Promise.all(answers);
      await Bun.sleep(settleMs);
      const lanes = await openLanes(requestTo(herald, benchOrg.quiet), callers);
      const times: number[] = [];
      const stopMeter = startMeter(herald.pid);
      const endsAt = performance.now() + ms;
      await Promise.all(
        lanes.map(async (lane) => {
          while (performance.now() < endsAt) {
            const sentAt = performance.now();
            const status = await new Promise<number>((answered) => lane.send(answered));
            if (status !== 201) throw new Error(`a send was answered ${status}`);
            times.push(performance.now() - sentAt);
          }
        }),
      );
      const busy = stopMeter();
      if (isWaiting && (await Promise.race([Promise.any(answers), Bun.sleep(0)])) !== undefined)
        throw new Error("a caller who should wait was answered");
      for (const lane of [...lanes, ...waiters]) lane.close();
      await watchesBecome(herald, 0);
      return {
        perSecond: (times.length * 1000) / busy.elapsedMs,
        serverCpuMicros: (busy.serverCpuMs * 1000) / times.length,
        ...spreadOf(times),
        ...shares(busy),
      };
    },
  };
}

function requestTo({ url }: HeraldPeer, cid: string, headers: readonly string[] = []) {
  return createRequestTemplate(url, "/admin/message", benchOrg.key, sendBody(cid), "random", headers);
}

/** Resolves once the node watches this many events. */
async function watchesBecome({ url }: HeraldPeer, count: number): Promise<void> {
  for (;;) {
    const metrics = await (await fetch(`${url}/metrics`)).text();
    if (metrics.includes(`herald_held{what="watches"} ${count}\n`)) return;
    await Bun.sleep(lookAgainMs);
  }
}
