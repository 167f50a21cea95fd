import type { Config } from "../config.ts";
import type { createGateway } from "../gateway/gateway.ts";
import { createThreadScheduler } from "../lib/event-loop/thread-scheduler.ts";
import { createAddressSet } from "../lib/network/addresses.ts";
import { createClientAddress } from "../lib/network/client-address.ts";
import type { HttpServer } from "../lib/network/http-server.ts";
import { createPublicOrigin } from "../lib/network/public-origin.ts";
import { createGuard } from "../lib/observing/guard.ts";
import { tellOutages } from "../lib/observing/outages.ts";
import { createId } from "../lib/text/ids.ts";
import { steadyClock, systemClock } from "../lib/time/clock.ts";
import { createDatabaseClock } from "../lib/time/database-clock.ts";
import type { Addressing } from "../services/delivery/addressing.ts";
import type { Expiry } from "../services/messages/expiry.ts";
import type { Nodes } from "../services/nodes/nodes.ts";
import type { HostLink } from "./host-link.ts";
import { createErrors } from "./observing/errors.ts";
import { openLog } from "./secrets.ts";

const undeclaredProxyAdvice =
  "a request with X-Forwarded-For came from an address that is not a trusted proxy; if this is your proxy, add it to HERALD_TRUSTED_PROXIES, because until then all clients behind it count as one; otherwise the header is forged, and Herald ignores it (see docs/how-to/run-as-a-service.md)";

/** Features that others call although these start first: each is missing until it is open. */
type LaterFeatures = {
  addressing?: Addressing;
  expiry?: Expiry;
  gateway?: ReturnType<typeof createGateway>;
  /** Set once the node is about to stop. */
  isStopping?: boolean;
  nodes?: Nodes;
  server?: HttpServer;
};

type Work = () => Promise<void>;

/** What every feature of a node is opened with. */
export type Context = ReturnType<typeof openContext>;

/** What a worker is told: its number, and its link to the process that has the embedded database and the broker, if there is one. */
export type WorkerPlace = { worker?: number | undefined; host?: HostLink | undefined };

/** Opens the log of a node, and what else its features share. `stack` ends the node. */
export function openContext(config: Config, { worker, host }: WorkerPlace, stack: AsyncDisposableStack) {
  const { log, logFigures, redaction } = openLog(config, worker);
  const { redact } = redaction;
  const errors = createErrors(config, log);
  const { onError } = errors;
  process.on("unhandledRejection", onError);
  stack.defer(() => void process.off("unhandledRejection", onError));
  const later: LaterFeatures = {};
  return {
    config,
    worker,
    host,
    nodeId: createId(),
    log,
    logFigures,
    redaction,
    redact,
    problemForm: { redact, basePath: config.HERALD_BASE_PATH },
    ...errors,
    guard: createGuard(onError),
    clock: systemClock,
    databaseClock: createDatabaseClock(systemClock),
    steadyClock,
    thread: createThreadScheduler(),
    clientAddress: createClientAddress(createAddressSet(config.HERALD_TRUSTED_PROXIES), (address) =>
      log.warn({ address }, undeclaredProxyAdvice),
    ),
    publicOriginOf: createPublicOrigin(createAddressSet(config.HERALD_TRUSTED_PROXIES)),
    later,
    onStop,
    /** Repeats work until the node stops and then runs `atStop`. Of consecutive failures, the first is told. Returns the work. */
    repeat(work: Work, everyMs: number, atStop?: (work: Work) => unknown, mayTakeMs?: number): Work {
      const run = tellOutages(work, errors.outages);
      const timer = setInterval(() => void run(), everyMs);
      onStop(() => {
        clearInterval(timer);
        return atStop?.(run);
      }, mayTakeMs);
      return run;
    },
  };

  /** Registers what ends a feature: it runs before what was registered earlier, which begins after `mayTakeMs` at the latest. */
  function onStop(stop: () => unknown, mayTakeMs?: number): void {
    stack.defer(async () => {
      const stopped = stop();
      await (mayTakeMs === undefined ? stopped : Promise.race([stopped, Bun.sleep(mayTakeMs)]));
    });
  }
}
