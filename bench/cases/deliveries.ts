import { type Lane, openLanes } from "../harness/clients/lane.ts";
import { startMeter } from "../harness/meter.ts";
import type { Contender, Measures } from "../harness/report/rounds.ts";
import type { Stage } from "../harness/stage.ts";
import { shares } from "./sends.ts";

/** Set before a run; called when a message has reached every listener. */
export type Cue = { onComplete(): void };

/**
 * Measures frames per second while `inFlight` messages are in flight: from POST until both the 201 and the frame at
 * every listener have arrived. The next one is sent when fewer than `inFlight` are.
 */
export function deliveriesOn({ peer, request, audience }: Stage, cue: Cue, inFlight: number): Contender {
  return {
    name: peer.name,
    async run(ms) {
      const idle = await openLanes(request, inFlight);
      const { promise: isOver, resolve: end } = Promise.withResolvers<void>();
      const before = audience.completed();
      let isRunning = true;
      let sent = 0;
      let refused = 0;

      const answer = (lane: Lane) => (status: number) => {
        if (status !== 201) refused++;
        idle.push(lane);
        pump();
      };
      const pump = () => {
        const heard = audience.completed() - before;
        while (isRunning && sent - heard < inFlight) {
          const lane = idle.pop();
          if (lane === undefined) return;
          sent++;
          lane.send(answer(lane));
        }
        if (!isRunning && sent === heard + refused && idle.length === inFlight) end();
      };

      cue.onComplete = pump;
      const stopMeter = startMeter(peer.pid);
      const framesBefore = audience.frames();
      pump();
      await Bun.sleep(ms);
      const frames = audience.frames() - framesBefore;
      const busy = stopMeter();
      isRunning = false;
      pump();
      await isOver;
      cue.onComplete = () => undefined;
      for (const lane of idle) lane.close();
      if (refused > 0) throw new Error(`${peer.name} refused ${refused} sends`);
      audience.verify();
      return { ...rate(frames, busy), ...shares(busy) };
    },
  };
}

/**
 * Measures the same in a loop inside the bare publisher's process: `inFlight` frames per turn, with nothing to trigger
 * it.
 */
export function deliveriesOfLoop({ peer, topic, audience }: Stage, inFlight: number): Contender {
  return {
    name: `${peer.name}-loop`,
    async run(ms) {
      const before = audience.completed();
      const framesBefore = audience.frames();
      const stopMeter = startMeter(peer.pid);
      const response = await fetch(`${peer.url}/${topic}/loop?inFlight=${inFlight}&ms=${ms}`, { method: "POST" });
      const published: number = await response.json();
      while (audience.completed() - before < published) await Bun.sleep(1);
      const busy = stopMeter();
      audience.verify();
      return { ...rate(audience.frames() - framesBefore, busy), ...shares(busy) };
    },
  };
}

function rate(frames: number, { elapsedMs, serverCpuMs }: { elapsedMs: number; serverCpuMs: number }): Measures {
  return { perSecond: (frames * 1000) / elapsedMs, cpuMicrosPerDelivery: (serverCpuMs * 1000) / frames };
}
