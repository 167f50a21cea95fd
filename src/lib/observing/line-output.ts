import { writeSync } from "node:fs";

/** Where lines are written that nobody waits for. */
export type LineOutput = {
  /** Writes lines, or keeps them while the other end takes none. What does not fit is left out, and `tellLost` says so once there is room. */
  write(lines: string): void;
  /** Writes what is kept, and waits for the other end for a second at most: before the process ends. */
  drain(): void;
};

type Options = {
  /** Writes some of the bytes and says how many; throws `EAGAIN` when the other end takes none now. */
  writeSome(bytes: Uint8Array): number;
  /** How many bytes are kept. */
  maxBytes: number;
  /** A line that says how many were left out. */
  tellLost(lines: number): string;
};

const againMs = 10;
const drainMs = 1_000;
const lineEnd = 10;

/** Writes to an open file. */
export function writeTo(file: number): Options["writeSome"] {
  return (bytes) => writeSync(file, bytes);
}

/**
 * An output that does not stop the event loop for a reader that is slow: a pipe that is full is tried again by a timer. Once the
 * other end is gone, and where nothing can be written, lines are left out.
 */
export function createLineOutput({ writeSome, maxBytes, tellLost }: Options): LineOutput {
  let kept: Uint8Array = new Uint8Array();
  let lost = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;

  /** Whether all was written that is kept. */
  function writeKept(): boolean {
    try {
      while (kept.length > 0) kept = kept.subarray(writeSome(kept));
      return true;
    } catch (error) {
      if (isFull(error)) return false;
      lost += countLines(kept);
      kept = new Uint8Array();
      return true;
    }
  }

  function writeAll(): boolean {
    if (!writeKept()) return false;
    if (lost === 0) return true;
    kept = Buffer.from(tellLost(lost));
    lost = 0;
    return writeKept();
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
      if (kept.length === 0) kept = bytes;
      else if (kept.length + bytes.length <= maxBytes) kept = Buffer.concat([kept, bytes]);
      else lost += countLines(bytes);
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
