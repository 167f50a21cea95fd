import type { Logger } from "pino";

/** How far a clock is from another one: positive if it is ahead. It is exact up to `uncertainMs`. */
export type ClockOffset = { offsetMs: number; uncertainMs: number };

const mostMs = 2_000; // as `herald doctor` says
const goodMs = 1_000; // so that a clock at the limit is not reported again and again

/**
 * Creates the watch of this machine's clock beside the database's, which all nodes share. It warns once when the clocks part, and
 * says when they agree again.
 */
export function createClockWatch(log: Logger) {
  let last: number | undefined;
  let isOff = false;
  return {
    /** A comparison, made with each heartbeat. */
    note({ offsetMs, uncertainMs }: ClockOffset): void {
      last = offsetMs;
      const least = Math.abs(offsetMs) - uncertainMs;
      if (!isOff && least > mostMs) {
        isOff = true;
        log.warn({ offset_ms: Math.round(offsetMs) }, describe(offsetMs));
      } else if (isOff && least < goodMs) {
        isOff = false;
        log.info({ offset_ms: Math.round(offsetMs) }, "this machine's clock agrees with the database's again");
      }
    },
    /** The last comparison, in milliseconds; `undefined` before the first one, and with the embedded database. */
    offsetMs: () => last,
  };
}

function describe(offsetMs: number): string {
  const seconds = Math.round(Math.abs(offsetMs) / 1_000);
  return `this machine's clock is ${seconds} s ${offsetMs > 0 ? "ahead of" : "behind"} the database's: tokens of this node are refused by others, or theirs by this one, and messages have wrong times; synchronize the clocks of all machines (NTP)`;
}
