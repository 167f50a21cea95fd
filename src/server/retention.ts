import { keepOf } from "../config.ts";
import { createRetention } from "../services/retention.ts";
import type { Context } from "./context.ts";
import type { NodeOutbox } from "./outbox.ts";
import type { Store } from "./store.ts";

const everyMs = 60_000;
const stopMayTakeMs = 1_000;
const skewExplanation =
  "the clocks of this node and the database differ by more than a minute; until they agree, this node removes no expired data";

/** Removes expired data, now and every minute. */
export function startRetention(context: Context, store: Store, outbox: NodeOutbox | undefined): void {
  const { config, nodeId, clock, steadyClock, log, repeat } = context;
  const retention = createRetention({
    ...store,
    keep: keepOf(config),
    neededFrom: outbox?.idsNeededFrom,
    holder: nodeId,
    clock,
    elapsed: steadyClock,
    onSkew: (skewMs) => log.warn({ node_ahead_ms: skewMs }, skewExplanation),
  });
  async function removeOld(): Promise<void> {
    const rows = await retention.run();
    if (rows > 0) log.info({ rows }, "removed expired data");
  }
  void repeat(removeOld, everyMs, retention.stop, stopMayTakeMs)();
}
