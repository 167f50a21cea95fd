import type { SteadyClock } from "../time/clock.ts";
import { rootCauseOf } from "./root-cause.ts";

/** Callbacks for the beginning and end of an outage. */
export type OutageEvents = { onError(error: unknown): void; onRecovery(): void };

/**
 * Wraps repeated work so that it never rejects: of consecutive failures, the first one is reported, and the recovery.
 */
export function tellOutages(work: () => Promise<void>, { onError, onRecovery }: OutageEvents): () => Promise<void> {
  let isFailing = false;
  return async () => {
    try {
      await work();
      if (isFailing) onRecovery();
      isFailing = false;
    } catch (error) {
      if (!isFailing) onError(error);
      isFailing = true;
    }
  };
}

/** Where the two lines of an outage go. */
type OutageLog = Record<"warn" | "info", (facts: Record<string, unknown>, message: string) => void>;

type OutageOptions = {
  log: OutageLog;
  /** What goes and comes back, in a word that log searches find. */
  dependency: string;
  /** Where it is, without credentials. */
  address: string;
  /** What happened, what still works, and what to do. */
  describe(error: unknown): string;
  clock: SteadyClock;
};

/** The outages of something that a node depends on. */
export type Outage = OutageEvents & {
  /** Whether it is away. */
  isNow(): boolean;
  /** For how long it has been away, in milliseconds; `undefined` if it is not. */
  awayMs(): number | undefined;
};

/**
 * Creates what tells of the outages of one dependency, whoever notices them: a warning when it goes, with the cause, and a line
 * when it is back, with how long it was away.
 */
export function createOutage({ log, dependency, address, describe, clock }: OutageOptions): Outage {
  let since: number | undefined;
  return {
    onError(error) {
      if (since !== undefined) return;
      since = clock.now();
      log.warn({ dependency, address, cause: rootCauseOf(error) }, describe(error));
    },
    onRecovery() {
      if (since === undefined) return;
      const awayMs = Math.round(clock.now() - since);
      since = undefined;
      log.info({ dependency, address, away_ms: awayMs }, `${dependency}: back after ${lengthOf(awayMs)}`);
    },
    isNow: () => since !== undefined,
    awayMs: () => (since === undefined ? undefined : clock.now() - since),
  };
}

/** A time as people say it. */
function lengthOf(ms: number): string {
  if (ms < 1_000) return `${ms} ms`;
  const seconds = Math.round(ms / 1_000);
  return seconds < 120 ? `${seconds} s` : `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}
