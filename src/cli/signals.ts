import type { EventEmitter } from "node:events";

/**
 * A second signal within this time is an echo of the first: a terminal sends Ctrl-C to every process of its group, and npx and
 * bin/herald.js forward theirs, too.
 */
const sameSignalMs = 300;

/** Calls `act` at each SIGINT and SIGTERM. Gives the function that ends it. */
export function onInterrupt(act: () => void): () => void {
  process.on("SIGINT", act).on("SIGTERM", act);
  return () => void process.off("SIGINT", act).off("SIGTERM", act);
}

/**
 * Resolves at the first SIGINT or SIGTERM. A later one calls `exit` immediately with 128 + the signal's number.
 * Tests may pass any emitter as `process`, and any clock in milliseconds as `now`.
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
