import type { ThreadScheduler } from "../../lib/event-loop/thread-scheduler.ts";
import { threadCosts } from "../../services/limits/costs.ts";

const lingering = { most: 8, bytes: 1024 * 1024, ms: 1_000 };
const unseenMs = 10; // of `GET` and `HEAD`, Bun reads the body unseen

/** Creates the wait for the ends of bodies, for which nothing waits yet. */
export function createEndsSoon(thread: ThreadScheduler) {
  let waiting = 0;

  /** Reads and drops the body; ends without its end after a bounded number of bytes. */
  async function readToEnd(reader: ReadableStreamDefaultReader<Uint8Array>, name: string): Promise<boolean> {
    for (let bytes = 0; bytes <= lingering.bytes; ) {
      const { done, value } = await reader.read();
      if (done) return true;
      bytes += value.length;
      await thread.turn(name, threadCosts.refusal(value.length));
    }
    return false;
  }

  async function wait(body: ReadableStream<Uint8Array>, name: string): Promise<boolean> {
    const reader = body.getReader();
    try {
      const hasEnded = readToEnd(reader, name).catch(() => false); // also when the lock is released
      return await Promise.race([hasEnded, Bun.sleep(lingering.ms).then(() => false)]);
    } finally {
      reader.releaseLock();
    }
  }

  /**
   * Waits a moment for the end of a body that a call was answered without. Resolves to whether it has come, so that the
   * connection can go on; at once, if too many calls wait. A client that is still writing when its connection is closed may
   * not see why. `name` takes turns with others for what is read.
   */
  return async ({ body }: Request, name: string): Promise<boolean> => {
    if (body?.locked || waiting >= lingering.most) return false;
    waiting++;
    try {
      if (body !== null) return await wait(body, name);
      await Bun.sleep(unseenMs);
      return false;
    } finally {
      waiting--;
    }
  };
}
