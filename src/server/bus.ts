import { noSignatures } from "../bus/broker-transport.ts";
import type { DropReason, NodesBus } from "../bus/bus.ts";
import { createLocalBus } from "../bus/local.ts";
import { createNatsTransport } from "../bus/nats.ts";
import { createNodesBus } from "../bus/nodes-bus.ts";
import { createSigner } from "../bus/signatures.ts";
import type { Context } from "./context.ts";

const nobody: ReadonlySet<string> = new Set();
const dropAdvice =
  "dropped bus messages that were not signed by a node of this database or cannot be read, because something else publishes on the bus; another Herald on the same NATS server needs its own account (see docs/explanation/security.md)";

/** The bus of a node. */
export type NodeBus = ReturnType<typeof openBus>;

/** Opens the configured bus. It sends and trusts nothing until `takeSecrets` gives it secrets. */
export function openBus(context: Context) {
  const { config, host, nodeId, log, steadyClock, dependencies, later, onError, onStop } = context;
  const { HERALD_BUS_URL: url } = config;
  const outage = dependencies.bus;
  const signer = createSigner(steadyClock);
  let hasConnected = false;

  function onConnect(): void {
    hasConnected = true;
    if (outage.isNow()) outage.onRecovery();
    else log.info("connected to the bus");
    void later.gateway?.checkHeads();
  }

  const bus = open();
  onStop(() => bus.close());
  return {
    bus,
    takeSecrets: signer.take,
    /** Whether there is a bus that has not been reached yet. */
    isConnecting: () => url !== undefined && !hasConnected,
  };

  function open(): NodesBus {
    const options = {
      nodeId,
      unsigning: () => later.nodes?.unsigning ?? nobody,
      onError,
      onDrop: (reason: DropReason, subject: string) => log.warn({ reason, subject, dropped: bus.dropped }, dropAdvice),
    };
    if (host !== undefined) {
      const transport = host.openTransport({ onLost: () => void later.gateway?.checkHeads(), onError });
      return createNodesBus(transport, { ...options, signer: noSignatures });
    }
    if (url === undefined) return createLocalBus(context);
    const transport = createNatsTransport({ url, nodeId, onConnect, onAway: outage.onError, onError });
    return createNodesBus(transport, { ...options, signer });
  }
}
