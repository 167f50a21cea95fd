import type { Logger } from "pino";
import { gatewayLimitsOf } from "../config.ts";
import { createDeliveryLedger, type DeliveryLedger } from "../gateway/delivery/delivery-ledger.ts";
import { createGateway } from "../gateway/gateway.ts";
import type { Deliveries } from "../store/delivery/ports.ts";
import type { NodeBus } from "./bus.ts";
import type { Context } from "./context.ts";
import type { NodeFiles } from "./files.ts";
import type { Limits } from "./limits.ts";
import type { Tracing } from "./observing/tracing.ts";
import type { Services } from "./services.ts";
import type { Store } from "./store.ts";

const leaveMayTakeMs = 1_000;
const lastSeenEveryMs = 1_000;
const lastSeenMayTakeMs = 1_000;
const storeDeliveriesEveryMs = 250;
const storeDeliveriesMayTakeMs = 1_000;
const releasesWithinMs = 1_000;
const lookAgainMs = 10;
const logBreakAdvice =
  "the database lost events that were already delivered, because a lagging standby took over or a backup was restored; closing the organization's connections, so that its clients reconnect (see docs/how-to/run-a-cluster.md)";

/** The connections of a node. */
export type Gateway = ReturnType<typeof openGateway>;

type Parts = Services & NodeFiles & Limits & Pick<NodeBus, "bus"> & { store: Store; tracing: Tracing | undefined };

/** Opens the connections. Once they have closed, what was delivered to them is stored, and the node leaves the others. */
export function openGateway(context: Context, parts: Parts) {
  const { config, log, outages, later, onError, onStop } = context;
  const { store, use, tracing } = parts;
  onStop(() => later.nodes?.leave().catch(onError), leaveMayTakeMs);
  const ledger = startDeliveryLedger(context, store);
  context.repeat(parts.lastSeen.flush, lastSeenEveryMs, (store) => store(), lastSeenMayTakeMs);
  const gateway = createGateway({
    ...context,
    ...parts,
    ...outages,
    ledger,
    log: store.log,
    allowedOrigins: new Set(config.HERALD_ALLOWED_ORIGINS),
    onForbiddenOrigin: (origin) =>
      log.info({ code: "origin_forbidden", origin }, "refused a page whose origin is not in HERALD_ALLOWED_ORIGINS"),
    limits: gatewayLimitsOf(config),
    sockets: {
      publish: (topic, frame) => later.server?.publish(topic, frame) ?? 0,
      countSubscribers: (topic) => later.server?.countSubscribers(topic) ?? 0,
    },
    ratesOf: use.ratesOf,
    onBreak: (org, { played, found, head }) => log.warn({ org, played, found, head }, logBreakAdvice),
    tracePlay: tracing?.play,
  });
  later.gateway = gateway;
  onStop(async () => {
    await later.server?.cut();
    await tellLeaks(gateway.held, log);
  });
  onStop(gateway.stop);
  return gateway;
}

/** Starts the ledger of this node's deliveries, which is stored several times a second and, once nothing is played, at the stop. */
function startDeliveryLedger(
  { clock, log, repeat }: Context,
  { deliveries }: { deliveries: Deliveries },
): DeliveryLedger {
  let lost = 0;
  function tellLost(): void {
    if (lost > 0) log.warn({ plays: lost }, "could not store some deliveries, so delivery reports are incomplete");
    lost = 0;
  }
  const ledger = createDeliveryLedger({
    deliveries,
    clock,
    onLost(plays) {
      lost += plays;
    },
  });
  async function flush(): Promise<void> {
    await ledger.flush();
    tellLost();
  }
  async function storeRest(store: () => Promise<void>): Promise<void> {
    await store();
    await store(); // the first may have begun before the last event was played
    tellLost();
  }
  repeat(flush, storeDeliveriesEveryMs, storeRest, storeDeliveriesMayTakeMs);
  return ledger;
}

/** Logs an error if anything is still held for connections after all have closed. Waits up to a second for them to end. */
async function tellLeaks(held: () => Record<string, number>, log: Logger): Promise<void> {
  const left = () => Object.entries(held()).filter(([, count]) => count !== 0);
  const end = performance.now() + releasesWithinMs;
  while (left().length > 0 && performance.now() < end) await Bun.sleep(lookAgainMs);
  if (left().length === 0) return;
  const leaks = Object.fromEntries(left());
  log.error({ held: leaks }, "closed connections did not release all of their resources; please report this");
}
