import { type OutageEvents, tellOutages } from "../lib/observing/outages.ts";
import type { LastSeen } from "../services/directory/last-seen.ts";

const storeEveryMs = 1_000;

/** Stores every second when users were last connected. Returns the function that stores the rest and stops. */
export function startLastSeen({ flush }: Pick<LastSeen, "flush">, outages: OutageEvents): () => Promise<void> {
  const store = tellOutages(flush, outages);
  const timer = setInterval(() => void store(), storeEveryMs);
  return async () => {
    clearInterval(timer);
    await store();
  };
}
