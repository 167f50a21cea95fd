import type { Logger } from "pino";
import type { ActivityBus, Bus, WatchBus } from "../bus/bus.ts";
import { createLocalBus } from "../bus/local.ts";
import { createNatsBus } from "../bus/nats.ts";
import { createSigner, type Signer } from "../bus/signatures.ts";
import type { Config } from "../config.ts";
import { steadyClock } from "../lib/time/clock.ts";

const nobody: ReadonlySet<string> = new Set();
const dropAdvice =
  "dropped bus messages that were not signed by a node of this database or cannot be read, because something else publishes on the bus; another Herald on the same NATS server needs its own account (see docs/explanation/security.md)";

type Options = {
  nodeId: string;
  log: Logger;
  /** The ids of the live nodes that do not sign, once known. */
  unsigning(): ReadonlySet<string> | undefined;
  onConnect(): void;
  onAway(error: unknown): void;
  onError(error: unknown): void;
};

/** Opens the configured bus. It sends and trusts nothing until `takeSecrets` gives it secrets. */
export function openBus(
  { HERALD_BUS_URL: url }: Config,
  { nodeId, log, unsigning, onConnect, onAway, onError }: Options,
): { bus: Bus & WatchBus & ActivityBus; takeSecrets: Signer["take"] } {
  const signer = createSigner(steadyClock);
  if (url === undefined) return { bus: createLocalBus({ nodeId }), takeSecrets: signer.take };
  const bus = createNatsBus({
    url,
    nodeId,
    signer,
    unsigning: () => unsigning() ?? nobody,
    onConnect,
    onAway,
    onError,
    onDrop: (reason, subject) => log.warn({ reason, subject, dropped: bus.dropped }, dropAdvice),
  });
  return { bus, takeSecrets: signer.take };
}
