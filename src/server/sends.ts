import { type Config, httpLimitsOf } from "../config.ts";
import type { ProblemForm } from "../contract/errors/problem.ts";
import type { ThreadScheduler } from "../lib/event-loop/thread-scheduler.ts";
import type { Clock } from "../lib/time/clock.ts";
import type { OrganizationUse } from "../services/limits/organization-use.ts";
import { createBatches } from "../services/messages/batches.ts";
import { createDryRuns } from "../services/messages/dry-runs.ts";
import type { Presence } from "../services/presence.ts";
import { createPlaces } from "../services/transfer/places.ts";
import type { createStore } from "../store/store.ts";
import { transfersAtOnce } from "./services.ts";

type Dependencies = {
  config: Config;
  store: ReturnType<typeof createStore>;
  use: OrganizationUse;
  thread: ThreadScheduler;
  presence: Presence;
  clock: Clock;
  steadyClock: Clock;
  problemForm: ProblemForm;
  onError(error: unknown, requestId: string): void;
};

/** Creates the services that send, or try to, and need to know who is online. */
export function createSends(dependencies: Dependencies) {
  const { config, store, use, thread, presence, clock, steadyClock, problemForm, onError } = dependencies;
  const dryRuns = createDryRuns({ ...store, use, presence, clock, elapsed: steadyClock });
  const batches = createBatches({
    ...store,
    use,
    thread,
    dryRuns,
    places: createPlaces({ what: "batches", ...transfersAtOnce }),
    limits: httpLimitsOf(config),
    clock,
    elapsed: steadyClock,
    onError,
    problemForm,
  });
  return { dryRuns, batches };
}
