import { uniqueId } from "../random.ts";
import type { Organization } from "./organization.ts";

/** Senders that each send one message after another until stopped. */
export type Load = {
  /** Per sender, the server_mids in the order of acknowledgement. */
  readonly acknowledged: readonly string[][];
  readonly count: () => number;
  /** Stops, and resolves once every send is answered. */
  stop(): Promise<void>;
};

export function startLoad(org: Organization, cid: string, senderId: string, concurrency: number, body = "x"): Load {
  let isRunning = true;
  const acknowledged: string[][] = Array.from({ length: concurrency }, () => []);
  const senders = acknowledged.map(async (mine) => {
    while (isRunning) mine.push((await org.sent(senderId, { id: uniqueId("load"), cid, body })).server_mid);
  });
  const done = Promise.all(senders);
  done.catch(() => undefined);
  return {
    acknowledged,
    count: () => acknowledged.reduce((sum, mine) => sum + mine.length, 0),
    async stop() {
      isRunning = false;
      await done;
    },
  };
}
