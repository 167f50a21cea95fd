import { closeSync, openSync } from "node:fs";
import type { Logger } from "pino";
import { createOutage } from "../../lib/observing/outages.ts";
import { steadyClock } from "../../lib/time/clock.ts";

const lookEveryMs = 1_000;
const describe = () =>
  "file descriptors: this process has none left, so it accepts no connections and opens no files until some are closed; raise the limit where it is started (LimitNOFILE=65536 in the systemd unit, or ulimit -n 65536)";

/** Tells when a process has no file descriptors left, which it would notice only by what does not work. Returns what ends it. */
export function watchDescriptors(log: Pick<Logger, "warn" | "info">): () => void {
  const outage = createOutage({ log, dependency: "file descriptors", address: "", describe, clock: steadyClock });
  const timer = setInterval(() => {
    try {
      closeSync(openSync("/dev/null", "r"));
      outage.onRecovery();
    } catch (error) {
      if (isOut(error)) outage.onError(error);
    }
  }, lookEveryMs);
  return () => clearInterval(timer);
}

function isOut(error: unknown): boolean {
  return error instanceof Error && "code" in error && (error.code === "EMFILE" || error.code === "ENFILE");
}
