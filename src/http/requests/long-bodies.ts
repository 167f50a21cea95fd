import { createTurnstile } from "../../lib/event-loop/turnstile.ts";
import { declaredLength } from "./head.ts";

const mostDropped = 8 * 1024 * 1024;

/** The length of a request's body in bytes: infinite if it is not declared, or not by a number. */
export function bytesOfBody(headers: Headers): number {
  const declared = declaredLength(headers);
  if (declared !== undefined) return declared;
  return headers.has("content-length") || headers.has("transfer-encoding") ? Number.POSITIVE_INFINITY : 0;
}

/**
 * Whether the body may be too long to be read and dropped when its request is answered before its end, which Bun does
 * as fast as it comes, without an end if it has none. Then the connection is closed (RFC 9112, section 9.6).
 */
export function isTooLongToDrop(headers: Headers): boolean {
  return bytesOfBody(headers) > mostDropped;
}

/**
 * Waits a moment for the end of a body that a call was answered without. Resolves to whether it has come, so that the
 * connection can go on; at once, if too many calls wait, which is more than one in 50 ms after two bodies that were too
 * long within a second. A client that is still writing when its connection is closed may not see why.
 */
export type EndsSoon = (request: Request) => Promise<boolean>;

const lingering = { most: 32, bytes: 1024 * 1024, ms: 1_000 };
// Bun reads as fast as the body comes. For a second after two that were too long within a second, fewer are waited for.
const wary = { most: 1, everyMs: 50, bytes: 256 * 1024, ms: 1_000 };
// Of `GET` and `HEAD`, Bun reads the body unseen: at most a fifth of the time.
const unseen = { everyMs: 50, ms: 10 };

/** Creates the wait for the ends of bodies, for which nothing waits yet. */
export function createEndsSoon(): EndsSoon {
  const waryOnes = createTurnstile(wary.most, { turnMs: wary.everyMs });
  const unseenOnes = createTurnstile(1, { turnMs: unseen.everyMs });
  let waiting = 0;
  let tooLongAt = Number.NEGATIVE_INFINITY; // when the last body was too long
  let isWaryUntil = Number.NEGATIVE_INFINITY;

  const isWary = () => performance.now() < isWaryUntil;
  const mayWait = () => (isWary() ? waiting < wary.most && waryOnes.takes() : waiting < lingering.most);

  /** Reads and drops the body; ends without its end after a bounded number of bytes. */
  async function readToEnd(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<boolean> {
    for (let bytes = 0; bytes <= (isWary() ? wary : lingering).bytes; ) {
      const { done, value } = await reader.read();
      if (done) return true;
      bytes += value.length;
    }
    noteTooLong(performance.now());
    return false;
  }

  /** One alone changes nothing for others: anybody may send such a body now and then. */
  function noteTooLong(now: number): void {
    if (now - tooLongAt < wary.ms) isWaryUntil = now + wary.ms;
    tooLongAt = now;
  }

  async function wait(body: ReadableStream<Uint8Array>): Promise<boolean> {
    const reader = body.getReader();
    try {
      const hasEnded = readToEnd(reader).catch(() => false); // also when the lock is released
      return await Promise.race([hasEnded, Bun.sleep(lingering.ms).then(() => false)]);
    } finally {
      reader.releaseLock();
    }
  }

  return async ({ body, bodyUsed }) => {
    if (body === null) {
      if (unseenOnes.takes()) await Bun.sleep(unseen.ms);
      return false;
    }
    if (bodyUsed || body.locked || !mayWait()) return false;
    waiting++;
    try {
      return await wait(body);
    } finally {
      waiting--;
    }
  };
}
