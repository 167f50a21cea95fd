import { gatewayLimitsOf } from "../config.ts";
import { createGateway } from "../gateway/gateway.ts";
import { logBreakAdvice } from "./advice.ts";
import type { NodeBus } from "./bus.ts";
import type { Context } from "./context.ts";
import { startDeliveryLedger } from "./delivery.ts";
import type { NodeFiles } from "./files.ts";
import type { Limits } from "./limits.ts";
import { tellLeaks } from "./observing/leaks.ts";
import type { Tracing } from "./observing/tracing.ts";
import type { Services } from "./services.ts";
import type { Store } from "./store.ts";

const leaveMayTakeMs = 1_000;
const lastSeenEveryMs = 1_000;
const lastSeenMayTakeMs = 1_000;

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
