import { HeraldError } from "../../contract/errors/errors.ts";
import type { Outage } from "../../lib/observing/outages.ts";
import type { SteadyClock } from "../../lib/time/clock.ts";
import type { DatabaseWatch } from "../../store/store.ts";
import { problemOf } from "./database-problems.ts";

const againMs = 1_000;
const mayTakeMs = 2_000;
const roomBytes = 32 * 1024; // more than a full disk leaves in a table

/** Watches whether writes can succeed. */
export type WriteWatch = ReturnType<typeof createWriteWatch>;

type Dependencies = {
  /** Writes `bytes` as a send would, but keeps nothing; rejects as a send would. */
  tryWrite(bytes: number): Promise<void>;
  watch: DatabaseWatch;
  outage: Outage;
  /** When a write last succeeded, by `clock`. */
  wroteAt(): number;
  /** Called with errors that are not an outage. */
  onError(error: unknown): void;
  clock: SteadyClock;
};

/**
 * Creates the watch of a database. A single failure proves nothing: a trial write decides. While trials fail, there is one every
 * second, and only a trial ends the outage, as commits of other rows may succeed meanwhile.
 */
export function createWriteWatch({ tryWrite, watch, outage, wroteAt, onError, clock }: Dependencies) {
  let failure: { error: unknown } | undefined;
  let isTrying = false;
  let isStopped = false;
  let triedAt = Number.NEGATIVE_INFINITY;
  let timer: ReturnType<typeof setTimeout> | undefined;

  function fail(error: unknown): void {
    if (isStopped) return;
    if (failure === undefined && !isExpected(error)) onError(error);
    failure = { error };
    outage.onError(error);
  }

  async function tryNow(reason: unknown): Promise<void> {
    isTrying = true;
    triedAt = clock.now();
    clearTimeout(timer);
    const tooLong = setTimeout(fail, mayTakeMs, reason);
    try {
      await watch.look();
      await tryWrite(isFull(reason) || isFull(failure?.error) ? roomBytes : 0);
      failure = undefined;
      outage.onRecovery();
    } catch (error) {
      fail(error);
    } finally {
      clearTimeout(tooLong);
      isTrying = false;
      if (failure !== undefined) plan(againMs, failure.error);
    }
  }

  function plan(inMs: number, reason: unknown): void {
    if (isStopped) return;
    clearTimeout(timer);
    timer = setTimeout(() => void tryNow(reason), inMs);
  }

  async function look(): Promise<void> {
    if (isTrying || failure !== undefined || clock.now() - wroteAt() < watch.everyMs / 2) return;
    try {
      await watch.look();
    } catch (error) {
      suspect(error);
    }
  }

  /** Reports a failure that the database may have caused: a trial write follows at once. */
  function suspect(error: unknown): void {
    if (isTrying || isStopped || failure !== undefined) return;
    const inMs = triedAt + againMs - clock.now();
    if (inMs > 0) plan(inMs, error);
    else void tryNow(error);
  }

  const lookTimer = setInterval(() => void look(), watch.everyMs);
  return {
    /** What is wrong with the database, for anyone who asks; `undefined` if writes succeed. */
    problem: () => failure && problemOf(failure.error).is,
    suspect,
    stop(): void {
      isStopped = true;
      clearTimeout(timer);
      clearInterval(lookTimer);
    },
  };
}

/** Whether an error is an outage, reported as such, and not a bug. */
export function isExpected(error: unknown): boolean {
  return error instanceof HeraldError && (error.code === "unavailable" || error.code === "storage_full");
}

function isFull(error: unknown): boolean {
  return error instanceof HeraldError && error.code === "storage_full";
}
