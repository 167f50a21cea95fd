import { constants, openSync, writeSync } from "node:fs";

/** An output for lines that nobody waits for. */
export type LineOutput = {
  /**
   * Writes lines, or buffers them while the other end is not reading. Lines that do not fit are dropped; `tellLost`
   * reports them once there is room.
   */
  write(lines: string): void;
  /** Writes what is buffered, waiting up to a second for the other end. Called before the process ends. */
  drain(): void;
};

type Options = {
  /** Writes some of the bytes and returns how many; throws `EAGAIN` if the other end accepts none now. */
  writeSome(bytes: Uint8Array): number;
  /** The size of the buffer. */
  maxBytes: number;
  /** Returns a line that says how many were dropped. */
  tellLost(lines: number): string;
  /** Called with the number of lines that were just dropped. */
  onLost?(lines: number): void;
};

const againMs = 10;
const drainMs = 1_000;
const lineEnd = 10;

/** Writes to an open file descriptor. */
export function writeTo(file: number): Options["writeSome"] {
  return (bytes) => writeSync(file, bytes);
}

/**
 * Opens the terminal of an output once more, so that a write to it does not wait for a terminal that is stopped or not read. The
 * output itself stays as it is: other programs share it, and expect their writes to wait. Returns `output` if that is impossible.
 */
export function openTerminal(output: number): number {
  const { O_WRONLY, O_NONBLOCK, O_NOCTTY } = constants;
  for (const path of [`/proc/self/fd/${output}`, "/dev/tty"]) {
    try {
      return openSync(path, O_WRONLY | O_NONBLOCK | O_NOCTTY);
    } catch {
      // not Linux, or a terminal of another user: the next path may do
    }
  }
  return output;
}

/**
 * Creates an output that does not block the event loop when the reader is slow: a full pipe is retried by a timer. Once
 * the other end is gone or cannot be written to, lines are dropped.
 */
export function createLineOutput({ writeSome, maxBytes, tellLost, onLost = () => undefined }: Options): LineOutput {
  let kept: Uint8Array[] = [];
  let keptBytes = 0;
  let lost = 0; // and not yet told
  let timer: ReturnType<typeof setTimeout> | undefined;

  function keep(bytes: Uint8Array): void {
    kept.push(bytes);
    keptBytes += bytes.length;
  }

  function lose(lines: number): void {
    lost += lines;
    onLost(lines);
  }

  /** Whether everything buffered was written; `gone` if the other end takes nothing any more. */
  function writeKept(): boolean | "gone" {
    let written = 0;
    try {
      for (let [first] = kept; first !== undefined; first = kept[written]) {
        const count = writeSome(first);
        keptBytes -= count;
        if (count === first.length) written++;
        else kept[written] = first.subarray(count);
      }
      kept = [];
      return true;
    } catch (error) {
      kept = kept.slice(written);
      return isFull(error) ? false : "gone";
    }
  }

  function dropKept(): void {
    lose(kept.reduce((lines, bytes) => lines + countLines(bytes), 0));
    kept = [];
    keptBytes = 0;
  }

  /** Whether nothing is left to be written. */
  function writeAll(): boolean {
    const outcome = writeKept();
    if (outcome === "gone") dropKept();
    if (outcome !== true) return outcome === "gone";
    if (lost === 0) return true;
    const told = lost;
    keep(Buffer.from(tellLost(told)));
    const telling = writeKept();
    if (telling === "gone") [kept, keptBytes] = [[], 0];
    else lost -= told;
    return telling !== false;
  }

  function tryAgain(): void {
    timer ??= setTimeout(() => {
      timer = undefined;
      if (!writeAll()) tryAgain();
    }, againMs);
    timer.unref();
  }

  return {
    write(lines) {
      const bytes = Buffer.from(lines);
      if (keptBytes === 0 || keptBytes + bytes.length <= maxBytes) keep(bytes);
      else lose(countLines(bytes));
      if (timer === undefined && !writeAll()) tryAgain();
    },
    drain() {
      const sleeper = new Int32Array(new SharedArrayBuffer(4));
      for (let waited = 0; !writeAll() && waited < drainMs; waited += againMs) Atomics.wait(sleeper, 0, 0, againMs);
    },
  };
}

function isFull(error: unknown): boolean {
  return error instanceof Error && "code" in error && (error.code === "EAGAIN" || error.code === "EBUSY");
}

function countLines(bytes: Uint8Array): number {
  let count = 0;
  for (const byte of bytes) if (byte === lineEnd) count++;
  return count;
}
