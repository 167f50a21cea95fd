import { closeSync, openSync } from "node:fs";
import type { Logger } from "pino";
import type { Config } from "../../config.ts";
import { createOutage } from "../../lib/observing/outages.ts";
import { steadyClock } from "../../lib/time/clock.ts";
import type { Database } from "../../store/store.ts";
import { createDependencies } from "./dependencies.ts";
import { createWriteWatch, isExpected, type WriteWatch } from "./write-watch.ts";

const lookForDescriptorsEveryMs = 1_000;
const outOfDescriptors =
  "file descriptors: this process has none left, so it accepts no connections and opens no files until some are closed; raise the limit where it is started (LimitNOFILE=65536 in the systemd unit, or ulimit -n 65536)";

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
    /** Starts to watch whether writes to the database succeed. */
    watchWrites({ writes: { trial }, watch }: Pick<Database, "writes" | "watch">, wroteAt: () => number): WriteWatch {
      const outage = dependencies.database;
      writes = createWriteWatch({ tryWrite: trial.run, watch, outage, wroteAt, onError: logBug, clock: steadyClock });
      return writes;
    },
  };
}

/** Tells when a process has no file descriptors left, which it would notice only by what does not work. Returns what ends it. */
export function watchDescriptors(log: Logger): () => void {
  const outage = createOutage({
    log,
    dependency: "file descriptors",
    address: "",
    describe: () => outOfDescriptors,
    clock: steadyClock,
  });
  const timer = setInterval(() => {
    try {
      closeSync(openSync("/dev/null", "r"));
      outage.onRecovery();
    } catch (error) {
      const code = error instanceof Error && "code" in error ? error.code : "";
      if (code === "EMFILE" || code === "ENFILE") outage.onError(error);
    }
  }, lookForDescriptorsEveryMs);
  return () => clearInterval(timer);
}
