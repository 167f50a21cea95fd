import type { EventEmitter } from "node:events";

/**
 * A second signal within this time is the same one: a terminal sends Ctrl-C to every process of its group, and npx and
 * bin/herald.js hand theirs on besides.
 */
const sameSignalMs = 300;

/**
 * Resolves at the first SIGINT or SIGTERM. A later one calls `exit` at once, with 128 + the number of the signal.
 * `process` may be any emitter, and `now` any clock in milliseconds, for tests.
 */
export function untilSignal(
  process: EventEmitter,
  exit: (exitCode: number) => void,
  now: () => number = () => performance.now(),
): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  let signalledAt: number | undefined;
  const onSignal = (exitCode: number) => () => {
    if (signalledAt !== undefined && now() - signalledAt > sameSignalMs) exit(exitCode);
    signalledAt ??= now();
    resolve();
  };
  process.on("SIGINT", onSignal(130)).on("SIGTERM", onSignal(143));
  return promise;
}
