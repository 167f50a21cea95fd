import type { NodeBus } from "../bus.ts";
import type { Context } from "../context.ts";
import type { NodeFiles } from "../files.ts";
import type { Gateway } from "../gateway.ts";
import type { NodeOutbox } from "../outbox.ts";
import type { Services } from "../services.ts";
import type { Stored } from "../store.ts";
import { type ClockOffset, createClockWatch } from "./clock-watch.ts";
import { createNodeFigures } from "./figures.ts";
import { startGauges } from "./gauges.ts";
import { measure } from "./metrics.ts";

type Parts = Stored &
  Pick<NodeBus, "bus"> &
  Pick<Services, "scheduler" | "poster"> &
  Pick<NodeFiles, "fileFigures"> & { gateway: Gateway; outbox: NodeOutbox | undefined };

/** Starts to measure a node: what its features count, what is read in the background, and how far its clock is off. */
export function startMeasuring(context: Context, parts: Parts) {
  const { log, logFigures, databaseClock } = context;
  const { bus, observer, gateway, scheduler, poster, outbox, fileFigures } = parts;
  const figures = {
    ...observer.figures,
    gateway: gateway.figures,
    scheduled: scheduler.figures,
    webhooks: poster.figures,
    outbox: outbox?.figures,
    files: fileFigures,
    log: logFigures,
  };
  const gauges = startGauges(context, parts);
  const clockWatch = createClockWatch(log);
  return {
    nodeFigures: createNodeFigures(figures, bus),
    onClock(offset: ClockOffset) {
      databaseClock.compare(offset);
      clockWatch.note(offset);
    },
    /** The current metrics of this process. */
    metrics: () => measure(context, { figures, gateway, bus, gauges: gauges(), clockOffsetMs: clockWatch.offsetMs() }),
  };
}
