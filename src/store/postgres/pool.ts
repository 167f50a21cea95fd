import type { SQL } from "bun";
import { unavailable } from "../../contract/errors/errors.ts";
import { createTurns, type Turn } from "../../lib/queues/turns.ts";

/** A bounded number of connections, each of which runs its calls one after another. Calls wait for one in turns. */
export type Pool = {
  /** Runs a call on the connection that has the least to do, or refuses it as `unavailable` when none was free for too long. */
  use<Result>(turn: Turn, run: (connection: SQL) => Promise<Result>): Promise<Result>;
  /**
   * Gives up idle connections that have been silent since a time (of `performance.now`): if the way to the server is gone, their
   * next call would have to find out.
   */
  doubt(since: number): void;
  /** Resolves when all calls are through and the connections are closed. */
  close(): Promise<void>;
};

type Options = {
  /** One connection, which is made with its first call, and anew with the next one after it was lost. */
  connect(): SQL;
  connections: number;
  /** How many calls may be on their way on one connection, so that the next waits less for the network. */
  depth: number;
  /** A call that has run for this long shows that the server is frozen: its connection is given up, and made anew. */
  deadlineMs: number;
  /** A call that no connection was free for is refused after this; those that run are left alone. */
  waitMs: number;
  /** Called when a connection is given up, with the time since which it was silent. */
  onSilence(since: number): void;
};

type Call = { startedAt: number; start(line: Line): void; refuse(error: Error): void };
type Line = {
  connection: SQL;
  calls: Set<Call>;
  runningSince: number;
  answeredAt: number;
  lastTookMs: number;
  timer: ReturnType<typeof setTimeout> | undefined;
};

/** No call is queued behind one that takes longer than this, nor behind those that follow such a one. */
const flowsMs = 5;
const closeWithinSeconds = 5;

/**
 * Connections to PostgreSQL. What waits here has not been sent yet, so a queue, however long, tells nothing of the server: the
 * time of a call counts from the end of the one before it on its connection, since the server answers in order.
 */
export function createPool({ connect, connections, depth, deadlineMs, waitMs, onSilence }: Options): Pool {
  const lines = Array.from({ length: connections }, openLine);
  const waiting = createTurns<Call>();
  let waitTimer: ReturnType<typeof setTimeout> | undefined;
  let onIdle: (() => void) | undefined;

  function openLine(): Line {
    const answeredAt = performance.now(); // it has not been asked yet, so nothing speaks against it
    return { connection: connect(), calls: new Set(), runningSince: 0, answeredAt, lastTookMs: 0, timer: undefined };
  }

  const isIdle = () => waiting.size === 0 && lines.every(({ calls }) => calls.size === 0);

  function findFree(now: number): Line | undefined {
    let free: Line | undefined;
    for (const line of lines) {
      const { calls, runningSince, lastTookMs } = line;
      const { size } = calls;
      if (size === 0) return line; // the first of them: it knows the statements
      const flows = size < depth && lastTookMs < flowsMs && now - runningSince < flowsMs;
      if (flows && (free === undefined || size < free.calls.size)) free = line;
    }
    return free;
  }

  function begin(line: Line, call: Call, now: number): void {
    line.calls.add(call);
    if (line.calls.size === 1) line.runningSince = now;
    line.timer ??= setTimeout(checkLine, deadlineMs, line).unref();
    call.start(line);
  }

  /** The next call is on its way before anyone hears of this one. */
  function end(line: Line, call: Call): void {
    if (!line.calls.delete(call)) return; // given up
    const now = performance.now();
    line.lastTookMs = now - line.runningSince;
    line.runningSince = now;
    line.answeredAt = now;
    startWaiting(now);
    if (onIdle !== undefined && isIdle()) onIdle();
  }

  function startWaiting(now: number): void {
    while (waiting.size > 0) {
      const line = findFree(now);
      if (line === undefined) return;
      const call = waiting.take();
      if (call !== undefined) begin(line, call, now);
    }
  }

  function checkLine(line: Line): void {
    line.timer = undefined;
    if (line.calls.size === 0) return;
    const leftMs = line.runningSince + deadlineMs - performance.now();
    if (leftMs > 0) line.timer = setTimeout(checkLine, leftMs, line).unref();
    else giveUp(line);
  }

  function giveUp(line: Line): void {
    const calls = [...line.calls];
    line.calls.clear();
    renew(line);
    for (const call of calls)
      call.refuse(unavailable({ detail: "the database does not respond; retry with the same id" }));
    onSilence(line.runningSince);
    startWaiting(performance.now());
    if (onIdle !== undefined && isIdle()) onIdle();
  }

  function renew(line: Line): void {
    clearTimeout(line.timer);
    lines[lines.indexOf(line)] = openLine();
    line.connection.close({ timeout: 0 }).catch(() => undefined); // its calls reject, and are answered already
  }

  function refuseLate(): void {
    waitTimer = undefined;
    for (let call = waiting.oldest; call !== undefined; call = waiting.oldest) {
      const leftMs = call.startedAt + waitMs - performance.now();
      if (leftMs > 0) {
        waitTimer = setTimeout(refuseLate, leftMs);
        return;
      }
      waiting.takeOldest();
      call.refuse(unavailable({ detail: "too many calls are waiting for the database; retry with the same id" }));
    }
  }

  return {
    use(turn, run) {
      return new Promise((resolve, reject) => {
        const now = performance.now();
        const call: Call = {
          startedAt: now,
          start(line) {
            Promise.try(run, line.connection).then(
              (result) => {
                end(line, call);
                resolve(result);
              },
              (error: unknown) => {
                end(line, call);
                reject(error);
              },
            );
          },
          refuse: reject,
        };
        const line = waiting.size === 0 ? findFree(now) : undefined;
        if (line !== undefined) return begin(line, call, now);
        waiting.add(turn, call);
        waitTimer ??= setTimeout(refuseLate, waitMs);
      });
    },
    doubt(since) {
      for (const line of [...lines]) if (line.calls.size === 0 && line.answeredAt < since) renew(line);
    },
    async close() {
      if (!isIdle()) {
        await new Promise<void>((resolve) => {
          onIdle = resolve;
        });
      }
      clearTimeout(waitTimer);
      for (const { timer } of lines) clearTimeout(timer);
      await Promise.all(lines.map(({ connection }) => connection.close({ timeout: closeWithinSeconds })));
    },
  };
}
