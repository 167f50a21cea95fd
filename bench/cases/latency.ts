import { openLane } from "../harness/clients/lane.ts";
import { startMeter } from "../harness/meter.ts";
import type { Contender } from "../harness/report/rounds.ts";
import { percentile, spreadOf } from "../harness/report/statistics.ts";
import type { Stage } from "../harness/stage.ts";
import { shares } from "./sends.ts";

/** Set before a run; called for each frame that a listener gets. */
export type Ear = { onFrame(): void };

const pauseMs = 5;

/**
 * Measures milliseconds from the POST to each recipient's frame and to the response, one message at a time on an idle
 * server.
 */
export function latencyOn({ peer, request, audience }: Stage, ear: Ear): Contender {
  return {
    name: peer.name,
    async run(ms) {
      const lane = await openLane(request);
      const heard: number[] = [];
      const answered: number[] = [];
      let sentAt = 0;
      ear.onFrame = () => heard.push(performance.now() - sentAt);
      const stopMeter = startMeter(peer.pid);
      const endsAt = performance.now() + ms;
      while (performance.now() < endsAt) {
        const before = audience.completed();
        const { promise, resolve } = Promise.withResolvers<number>();
        sentAt = performance.now();
        lane.send(() => {
          answered.push(performance.now() - sentAt);
          resolve(sentAt);
        });
        await promise;
        while (audience.completed() === before) await Bun.sleep(1);
        await Bun.sleep(pauseMs);
      }
      const busy = stopMeter();
      ear.onFrame = () => undefined;
      lane.close();
      return {
        ...spreadOf(heard),
        answerP50Ms: percentile(answered, 0.5),
        samples: heard.length,
        ...shares(busy),
      };
    },
  };
}
