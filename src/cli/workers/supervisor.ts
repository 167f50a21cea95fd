import { createBackoff } from "../../../sdk/waiting/backoff.ts";
import { sleep } from "../../../sdk/waiting/timers.ts";

const stopWithinMs = 20_000;
const stableAfterMs = 60_000;
const lookAgainMs = 50;
const waitsBetweenStarts = { minMs: 500, maxMs: 10_000 };

/** A process that runs one node. */
export type Worker = {
  readonly pid: number;
  /** Resolves when the worker accepts requests; never, if it exits before. */
  readonly ready: Promise<unknown>;
  /** Resolves with the exit code, or 128 + the number of the signal that ended the process. */
  readonly exited: Promise<number>;
  kill(signal: "SIGTERM" | "SIGKILL"): void;
};

/** The outcome of starting all workers. `code` is the exit code of a worker that failed to start. */
type Start = { outcome: "ready" } | { outcome: "stopped" } | { outcome: "failed"; code: number };

type Options = {
  count: number;
  /** Starts worker `number`, from 1. */
  spawn(number: number): Worker;
  /** Called when a worker exits unexpectedly. It is restarted after `delayMs`. */
  onEnd(ended: { worker: number; pid: number; code: number; delayMs: number }): void;
};

const terminated = 128 + 15;

/** Runs one worker for each number from 1 to `count`, and restarts workers that exit, with backoff. */
export function createSupervisor({ count, spawn, onEnd }: Options) {
  const running = new Map<number, Worker>();
  const replaced = new Set<Worker>();
  const stopping = new AbortController();
  const { signal } = stopping;

  function begin(number: number): Worker {
    const worker = spawn(number);
    running.set(number, worker);
    return worker;
  }

  /** Resolves with `undefined` when the worker accepts requests, or with its exit code if it exits before. */
  function untilReady(worker: Worker): Promise<number | undefined> {
    return Promise.race([worker.ready.then(() => undefined), worker.exited]);
  }

  async function keepRunning(number: number, first: Worker): Promise<void> {
    const waits = createBackoff(waitsBetweenStarts);
    for (let worker = first; ; worker = begin(number)) {
      const startedAt = performance.now();
      const code = await worker.exited;
      if (signal.aborted) return;
      running.delete(number);
      if (replaced.delete(worker)) continue;
      if (performance.now() - startedAt > stableAfterMs) waits.reset();
      const delayMs = Math.round(waits.next());
      onEnd({ worker: number, pid: worker.pid, code, delayMs });
      await sleep(delayMs, signal);
      if (signal.aborted) return;
    }
  }

  function killAll(name: "SIGTERM" | "SIGKILL"): void {
    for (const worker of running.values()) worker.kill(name);
  }

  return {
    /** Starts one worker and, when it is ready, the others. Resolves when all are ready, or when one has exited instead. */
    async start(): Promise<Start> {
      // One worker first, so that invalid settings are reported only once and migrations run only once.
      let code = await untilReady(begin(1));
      if (code === undefined && !signal.aborted) {
        const others = Array.from({ length: count - 1 }, (_, index) => begin(index + 2));
        const codes = await Promise.all(others.map(untilReady));
        code = codes.find((one) => one !== undefined);
      }
      if (signal.aborted) return { outcome: "stopped" };
      return code === undefined ? { outcome: "ready" } : { outcome: "failed", code };
    },
    /** Restarts workers that exit. Resolves after `stop`; rejects if no process can be started. */
    async keep() {
      await Promise.all([...running].map(([number, worker]) => keepRunning(number, worker)));
    },
    /** Replaces the workers one at a time. Each new worker must be ready before the next one is replaced. */
    async replaceAll() {
      for (const [number, old] of [...running]) {
        if (signal.aborted) return;
        replaced.add(old);
        old.kill("SIGTERM");
        let worker: Worker | undefined;
        do {
          await sleep(lookAgainMs, signal);
          worker = running.get(number);
        } while (
          !signal.aborted &&
          (worker === undefined || worker === old || (await untilReady(worker)) !== undefined)
        );
      }
    },
    /** Sends SIGTERM to all workers, and SIGKILL to those still running 20 seconds later. Resolves with whether all exited cleanly. */
    async stop() {
      stopping.abort();
      killAll("SIGTERM");
      const overdue = setTimeout(() => killAll("SIGKILL"), stopWithinMs);
      const codes = await Promise.all([...running.values()].map(({ exited }) => exited));
      clearTimeout(overdue);
      // A worker that was still starting may not have handled SIGTERM yet.
      return codes.every((code) => code === 0 || code === terminated);
    },
    /** Sends SIGKILL to all workers. */
    kill: () => killAll("SIGKILL"),
  };
}
