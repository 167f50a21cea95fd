import type { SQL } from "bun";
import { unavailable } from "../../contract/errors/errors.ts";
import { createTurns, type Turn } from "../../lib/queues/queue.ts";
import { createWindows } from "../../lib/rates/windows.ts";

/**
 * A bounded number of connections, each of which runs its calls in order. Waiting calls take turns. An organization may have
 * `share` calls in flight, or two while their results are large.
 */
export type Pool = {
  /** Runs a call on the least busy connection; rejects with `unavailable` if none was free for too long. */
  use<Result>(turn: Turn, run: (connection: SQL) => Promise<Result>): Promise<Result>;
  /**
   * Replaces idle connections that have been silent since a time (of `performance.now`): if the network path is broken,
   * their next call would otherwise have to find out.
   */
  doubt(since: number): void;
  /** Replaces all connections, each once its calls have ended: they lead to a server that accepts no writes. */
  retire(): void;
  /** Resolves once all calls have ended and the connections are closed. */
  close(): Promise<void>;
};

/** The number of connections of a pool, and of calls in flight. */
export type PoolSize = {
  connections: number;
  /** How many calls may be in flight per connection, which saves network round trips. */
  depth: number;
  /** How many calls of one organization may be in flight. */
  share: number;
  /** Whether to use every connection now and then, as the first statement on one takes up to 80 ms. */
  staysReady?: boolean;
};

type Options = PoolSize & {
  /** Creates a connection, which opens with its first call and reopens with the next one after it was lost. */
  connect(): SQL;
  /** A call that runs for longer means a frozen server, and its connection is replaced. */
  deadlineMs: number;
  /** A call that has waited this long for a connection is refused; running calls are not affected. */
  waitMs: number;
  /** Called when a connection is replaced, with the time since which it has been silent. */
  onSilence(since: number): void;
  /** Whether an error means that its connection is useless although it answers; it is replaced, at most once a second. */
  isUseless?(error: unknown): boolean;
};

type Call = { of: string; startedAt: number; start(line: Line): void; refuse(error: Error): void };
type Line = {
  connection: SQL;
  calls: Set<Call>;
  openedAt: number;
  /** Whether it accepts no more calls, and is replaced once its own have ended. */
  isRetired: boolean;
  runningSince: number;
  answeredAt: number;
  lastTookMs: number;
  timer: ReturnType<typeof setTimeout> | undefined;
};

/** Calls are not pipelined while or right after a call takes longer than this. */
const flowsMs = 5;
/** A result with more rows or characters than this takes a large part of a turn of the event loop. */
const large = { rows: 100, characters: 256 * 1024 };
const largeAtOnce = 2;
const closeWithinSeconds = 5;
const renewEveryMs = 1_000;
/** If all connections must stay ready, one in this many calls goes to the last free connection. */
const callsUntilLast = 32;
/** The owner of work that belongs to no single organization; such work is not limited. */
const nobodys = "";

/**
 * Creates a pool of PostgreSQL connections. Queued calls have not been sent, so a long queue says nothing about the
 * server; the server answers in order, so a call's time starts when the previous one on its connection ends.
 */
export function createPool({
  connect,
  connections,
  depth,
  share,
  staysReady,
  deadlineMs,
  waitMs,
  onSilence,
  isUseless = () => false,
}: Options): Pool {
  const lines = Array.from({ length: connections }, openLine);
  const waiting = createTurns<Call>();
  const windows = createWindows({ least: Math.min(largeAtOnce, share), most: share });
  let waitTimer: ReturnType<typeof setTimeout> | undefined;
  let onIdle: (() => void) | undefined;
  let chosen = 0;

  function openLine(): Line {
    const now = performance.now(); // as if it had just answered: nothing suggests that it is dead
    return {
      connection: connect(),
      calls: new Set(),
      openedAt: now,
      isRetired: false,
      runningSince: 0,
      answeredAt: now,
      lastTookMs: 0,
      timer: undefined,
    };
  }

  /** Whether the last free connection takes the next call. */
  const isInTurn = () => staysReady && ++chosen % callsUntilLast === 0;
  const isIdle = () => waiting.size === 0 && lines.every(({ calls }) => calls.size === 0);

  function findFree(now: number): Line | undefined {
    let free: Line | undefined;
    for (const line of isInTurn() ? lines.toReversed() : lines) {
      const { calls, runningSince, lastTookMs, isRetired } = line;
      const { size } = calls;
      if (isRetired) continue;
      if (size === 0) return line; // the first free one, which has prepared the statements, unless all must stay ready
      const flows = size < depth && lastTookMs < flowsMs && now - runningSince < flowsMs;
      if (flows && (free === undefined || size < free.calls.size)) free = line;
    }
    return free;
  }

  function begin(line: Line, call: Call, now: number): void {
    line.calls.add(call);
    if (call.of !== nobodys) windows.open(call.of);
    if (line.calls.size === 1) line.runningSince = now;
    line.timer ??= setTimeout(checkLine, deadlineMs, line).unref();
    call.start(line);
  }

  /** Sends the next call before the caller learns of this one's end. */
  function end(line: Line, call: Call, isLarge: boolean): void {
    if (!line.calls.delete(call)) return; // abandoned
    const now = performance.now();
    line.lastTookMs = now - line.runningSince;
    windows.close(call.of, isLarge);
    line.runningSince = now;
    line.answeredAt = now;
    if (line.isRetired && line.calls.size === 0) renew(line);
    startWaiting(now);
    if (onIdle !== undefined && isIdle()) onIdle();
  }

  function startWaiting(now: number): void {
    while (waiting.size > 0) {
      const line = findFree(now);
      if (line === undefined) return;
      const call = waiting.take(windows.isFull);
      if (call === undefined) return;
      begin(line, call, now);
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
    for (const call of calls) {
      windows.close(call.of, true);
      call.refuse(unavailable({ detail: "the database does not respond; retry with the same id" }));
    }
    onSilence(line.runningSince);
    startWaiting(performance.now());
    if (onIdle !== undefined && isIdle()) onIdle();
  }

  function renew(line: Line): void {
    clearTimeout(line.timer);
    lines[lines.indexOf(line)] = openLine();
    line.connection.close({ timeout: 0 }).catch(() => undefined); // its calls reject, but have been refused already
  }

  function retire(line: Line): void {
    if (line.calls.size === 0) renew(line);
    else line.isRetired = true;
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
          of: turn === "batch" ? nobodys : turn.of,
          startedAt: now,
          start(line) {
            Promise.try(run, line.connection).then(
              (result) => {
                end(line, call, isLargeResult(result));
                resolve(result);
              },
              (error: unknown) => {
                if (isUseless(error) && performance.now() - line.openedAt > renewEveryMs) line.isRetired = true;
                end(line, call, false);
                reject(error);
              },
            );
          },
          refuse: reject,
        };
        const line = waiting.size === 0 && !windows.isFull(call.of) ? findFree(now) : undefined;
        if (line !== undefined) return begin(line, call, now);
        waiting.add(turn, call);
        startWaiting(now); // those before it may wait only for their own share
        if (waiting.size > 0) waitTimer ??= setTimeout(refuseLate, waitMs);
      });
    },
    doubt(since) {
      for (const line of [...lines]) if (line.calls.size === 0 && line.answeredAt < since) renew(line);
    },
    retire() {
      for (const line of [...lines]) retire(line);
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

/** Judges by the first row, as those of a page are alike. */
function isLargeResult(result: unknown): boolean {
  if (!Array.isArray(result)) return false;
  if (result.length > large.rows) return true;
  let characters = 0;
  for (const value of Object.values(result[0] ?? {})) if (typeof value === "string") characters += value.length;
  return characters * result.length > large.characters;
}
