import { writeSync } from "node:fs";

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
};

const againMs = 10;
const drainMs = 1_000;
const lineEnd = 10;

/** Writes to an open file descriptor. */
export function writeTo(file: number): Options["writeSome"] {
  return (bytes) => writeSync(file, bytes);
}

/**
 * Creates an output that does not block the event loop when the reader is slow: a full pipe is retried by a timer. Once
 * the other end is gone or cannot be written to, lines are dropped.
 */
export function createLineOutput({ writeSome, maxBytes, tellLost }: Options): LineOutput {
  let kept: Uint8Array = new Uint8Array();
  let lost = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;

  /** Whether everything buffered was written. */
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
