import type { SendLog } from "../../../src/store/ports.ts";
import { pause } from "../models/time.ts";
import { type Product, product } from "./world.ts";

const { createBatches, createSendLog, createThreadScheduler } = product;

const withBatches = (create: Product["createBatches"]): Product => ({ ...product, createBatches: create });

/** The product, with another log under it. */
function withLog(change: (log: Pick<SendLog, "append">) => SendLog["append"]): Product {
  return withBatches((dependencies) =>
    createBatches({ ...dependencies, sends: { append: change(dependencies.sends) } }),
  );
}

/** Bugs of batches that the simulation must find, by name. */
export const plantedBatchBugs: Record<string, Product> = {
  "a line is answered before its commit": withLog(({ append }) => async (send) => {
    append(send).catch(() => undefined);
    return { outcome: "stored", id: send.id, createdAt: send.createdAt, offset: 1 };
  }),
  "the lines of a batch overtake one another": withLog(({ append }) => async (send) => {
    if (send.cid === undefined) await pause(1);
    return await append(send);
  }),
  "a line that was stored before is answered with a new id": withLog(({ append }) => async (send) => {
    const outcome = await append(send);
    return outcome.outcome === "replayed" ? { ...outcome, id: send.id } : outcome;
  }),
  "a line that could not be stored is answered as stored": withLog(({ append }) => async (send) => {
    try {
      return await append(send);
    } catch {
      return { outcome: "stored", id: send.id, createdAt: send.createdAt, offset: 1 };
    }
  }),
  "a stop cuts the answers off": withBatches((dependencies) => {
    const batches = createBatches(dependencies);
    let isStopped = false;
    return {
      async *open(wish, call) {
        for await (const text of batches.open(wish, call)) {
          if (isStopped) return;
          yield text;
        }
      },
      stop() {
        isStopped = true;
        batches.stop();
      },
    };
  }),
  "a batch that nobody takes keeps its place": withBatches((dependencies) =>
    createBatches({
      ...dependencies,
      slots: {
        take(...holder) {
          dependencies.slots.take(...holder);
          return () => undefined;
        },
      },
    }),
  ),
  "an organization's second commit overtakes its first": {
    ...product,
    createSendLog: (options) => createSendLog({ ...options, overlap: { depth: 3, from: 1 } }),
  },
  "lines of an organization wait for ever for the thread": {
    ...product,
    createThreadScheduler({ defer = setImmediate, ...options } = {}) {
      let turns = 0;
      return createThreadScheduler({ ...options, defer: (turn) => (++turns < 10 ? defer(turn) : undefined) });
    },
  },
};
