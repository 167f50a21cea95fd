import type { Logger } from "pino";
import type { Config } from "../../config.ts";
import { steadyClock } from "../../lib/time/clock.ts";
import type { Database } from "../../store/store.ts";
import { createDependencies } from "./dependencies.ts";
import { watchDescriptors } from "./descriptor-watch.ts";
import { createWriteWatch, isExpected, type WriteWatch } from "./write-watch.ts";

/**
 * Creates what becomes of a node's errors. A dependency that is away is told as such, once; everything else is a bug, and logged
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
    /** For repeated work with the database, whose outages the watch of its writes tells. */
    outages: { onError, onRecovery: () => undefined },
    /** Begins to watch whether a write to the database can succeed, and whether there are file descriptors left. */
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
