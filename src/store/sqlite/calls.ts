import { unavailable } from "../../contract/errors/errors.ts";
import { type Answer, type Call, sendError, type WriteRequest } from "./protocol.ts";

/** Creates the calls of the writing thread over a channel that `post` writes to; the answers come through `hear`. Calls never reject. */
export function createCalls(post: (call: Call) => void) {
  const waiting = new Map<number, (answer: Answer) => void>();
  let lastId = 0;
  let isGone = false;
  return {
    call(request: WriteRequest): Promise<Answer> {
      if (isGone) return Promise.resolve(gone());
      const id = ++lastId;
      const { promise, resolve } = Promise.withResolvers<Answer>();
      waiting.set(id, resolve);
      post({ id, ...request });
      return promise;
    },
    hear(id: number, answer: Answer): void {
      waiting.get(id)?.(answer);
      waiting.delete(id);
    },
    /** The thread is gone: all calls end with an error, now and from now on. */
    end(): void {
      isGone = true;
      for (const resolve of waiting.values()) resolve(gone());
      waiting.clear();
    },
  };
}

function gone(): Answer {
  const detail = "the database thread has died, and the server must restart; try again later";
  return { error: sendError(unavailable({ detail, retryAfterSeconds: 5 })) };
}
