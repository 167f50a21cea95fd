import type { NodeBus } from "../bus.ts";
import type { Context } from "../context.ts";
import type { NodeFiles } from "../files.ts";
import type { Gateway } from "../gateway.ts";
import type { NodeOutbox } from "../outbox.ts";
import type { Services } from "../services.ts";
import type { Stored } from "../store.ts";
import { type ClockOffset, createClockWatch } from "./clock-watch.ts";
import { countRefusals, createNodeFigures } from "./figures.ts";
import { startGauges } from "./gauges.ts";
import { measure } from "./metrics.ts";
import { createNodeProblems } from "./node-problems.ts";

type Parts = Stored &
  Pick<NodeBus, "bus"> &
  Pick<Services, "scheduler" | "poster" | "tokenFigures"> &
  Pick<NodeFiles, "fileFigures"> & {
    gateway: Gateway;
    outbox: NodeOutbox | undefined;
    /** Whether the node is about to stop. */
    isStopping(): boolean;
  };

/** Starts to measure a node: what its features count, what is read in the background, and how far its clock is off. */
export function startMeasuring(context: Context, parts: Parts) {
  const { log, logFigures, databaseClock } = context;
  const { bus, observer, gateway, scheduler, poster, tokenFigures, outbox, fileFigures } = parts;
  const figures = {
    ...observer.figures,
    gateway: gateway.figures,
    scheduled: scheduler.figures,
    webhooks: poster.figures,
    outbox: outbox?.figures,
    files: fileFigures,
    log: logFigures,
    tokens: tokenFigures,
  };
  const gauges = startGauges(context, parts);
  const nodeFigures = createNodeFigures(figures, bus);
  const nodeProblems = createNodeProblems({ ...context, gauges, isStopping: parts.isStopping });
  const clockWatch = createClockWatch(log);
  return {
    /** What the node reports of itself. Call it once per beat. */
    nodeActivity: () => ({ figures: nodeFigures(), refusals: countRefusals(figures), problems: nodeProblems() }),
    onClock(offset: ClockOffset) {
      databaseClock.compare(offset);
      clockWatch.note(offset);
    },
    /** The current metrics of this process. */
    metrics: () => measure(context, { figures, gateway, bus, gauges: gauges(), clockOffsetMs: clockWatch.offsetMs() }),
  };
}
