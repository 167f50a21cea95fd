import type { Logger } from "pino";
import type { Config } from "../../config.ts";
import { steadyClock } from "../../lib/time/clock.ts";
import type { Database } from "../../store/store.ts";
import { createDependencies } from "./dependencies.ts";
import { watchDescriptors } from "./descriptor-watch.ts";
import { createWriteWatch, isExpected, type WriteWatch } from "./write-watch.ts";

/**
 * Creates the error handling of a node. An outage of a dependency is reported once, as such; anything else is a bug, and is logged
 * with its stack.
 */
export function createErrors(config: Config, log: Logger) {
  const dependencies = createDependencies(config, log);
  let writes: WriteWatch | undefined;
  const logBug = (error: unknown, requestId?: string) =>
    log.error({ err: error, request_id: requestId }, "something went wrong inside Herald");
  const onError = (error: unknown, requestId?: string) =>
    isExpected(error) ? writes?.suspect(error) : logBug(error, requestId);
  return {
    dependencies,
    onError,
    /** For repeated work with the database, whose outages the watch of its writes reports. */
    outages: { onError, onRecovery: () => undefined },
    /** Starts to watch whether writes to the database succeed, and whether file descriptors are left. */
    watchWrites({ writes: { trial }, watch }: Pick<Database, "writes" | "watch">): WriteWatch {
      const outage = dependencies.database;
      const watched = createWriteWatch({ tryWrite: trial.run, watch, outage, onError: logBug, clock: steadyClock });
      const stopDescriptors = watchDescriptors(log);
      writes = watched;
      return {
        ...watched,
        stop() {
          watched.stop();
          stopDescriptors();
        },
      };
    },
  };
}
