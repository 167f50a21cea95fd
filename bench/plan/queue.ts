import { createRandom } from "../../test/harness/random.ts";
import { percentile } from "../harness/report/statistics.ts";

/** One node's thread, and the database that it commits to. Times in microseconds, rates per second. */
export type Flow = {
  sends: number;
  sendMicros: number;
  /** The node's own work for a commit. */
  commitMicros: number;
  /** How long the database and its flush take for a commit, plus the time for each event in it. */
  databaseMicros: number;
  databaseMicrosPerEvent: number;
  /** Events that arrive over the bus, including those committed by this node, and the time to play one. */
  hints: number;
  hintMicros: number;
  maxBatch: number;
};

/** Milliseconds from the arrival of a send until it is played, on a node like the one that committed it. */
export type Waits = { p50Ms: number; p99Ms: number; eventsPerCommit: number; busy: number; played: number };

type Job = { at: number; run(): void };

/**
 * Simulates `seconds` of a node: sends and hints arrive at random (Poisson), one thread handles them in order, and
 * sends that arrive during a commit share the next. Deterministic by seed.
 */
export function simulate(flow: Flow, seconds: number, seed: number): Waits {
  const { next } = createRandom(seed);
  const end = seconds * 1e6;
  const agenda: Job[] = [];
  const waits: number[] = [];
  let now = 0;
  let freeAt = 0;
  let busyMicros = 0;
  let waiting: number[] = []; // the arrival times of the sends that wait for a commit
  let isCommitting = false;
  let commits = 0;
  let committed = 0;

  const schedule = (at: number, run: () => void) => {
    let index = agenda.length;
    while (index > 0 && (agenda[index - 1]?.at ?? 0) < at) index--; // sorted descending: the next one is last
    agenda.splice(index, 0, { at, run });
  };
  /** The thread handles work in order of arrival. */
  const onThread = (micros: number, then: () => void) => {
    freeAt = Math.max(freeAt, now) + micros;
    busyMicros += micros;
    schedule(freeAt, then);
  };
  const arrive = (rate: number, act: () => void) => {
    const at = now + (-Math.log(1 - next()) / rate) * 1e6;
    if (rate > 0 && at < end)
      schedule(at, () => {
        act();
        arrive(rate, act);
      });
  };

  function commit(): void {
    const batch = waiting.slice(0, flow.maxBatch);
    waiting = waiting.slice(flow.maxBatch);
    isCommitting = batch.length > 0;
    if (!isCommitting) return;
    commits++;
    committed += batch.length;
    onThread(flow.commitMicros, () =>
      schedule(now + flow.databaseMicros + batch.length * flow.databaseMicrosPerEvent, () => {
        for (const sentAt of batch) onThread(flow.hintMicros, () => waits.push((now - sentAt) / 1000));
        commit();
      }),
    );
  }

  arrive(flow.sends, () => {
    const sentAt = now;
    onThread(flow.sendMicros, () => {
      waiting.push(sentAt);
      if (!isCommitting) commit();
    });
  });
  arrive(Math.max(0, flow.hints - flow.sends), () => onThread(flow.hintMicros, () => undefined));
  for (let job = agenda.pop(); job !== undefined; job = agenda.pop()) {
    now = job.at;
    job.run();
  }
  return {
    p50Ms: percentile(waits, 0.5),
    p99Ms: percentile(waits, 0.99),
    eventsPerCommit: committed / commits,
    busy: busyMicros / end,
    played: waits.length,
  };
}
