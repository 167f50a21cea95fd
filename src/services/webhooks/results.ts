import { HeraldError } from "../../contract/errors/errors.ts";
import type { TriedDelivery, WebhookDeliveryWrites } from "../../store/webhooks/ports.ts";

/** Stores the results of posts, many in one commit. */
export type Results = {
  /** Resolves once the result is stored. */
  add(result: TriedDelivery): Promise<void>;
  /** Resolves once `isDone` and everything is stored. */
  drain(isDone: () => boolean): Promise<void>;
  /** Stores no more. */
  close(): void;
};

type Dependencies = {
  store: WebhookDeliveryWrites["finish"];
  onError(error: unknown): void;
};

const mostAtOnce = 32; // each has up to 20 kB, and no commit may take long
const gatherMs = 10;
const againMs = 500;

/**
 * Creates the storage of results. While the database is away it tries again: a result that is never stored only means
 * that another node posts the same once more.
 */
export function createResults({ store, onError }: Dependencies): Results {
  let waiting: { result: TriedDelivery; done(): void }[] = [];
  let storing: Promise<void> | undefined;
  let isFailing = false;
  let isClosed = false;

  /** Stores results one by one, as one that the database takes for invalid would hold up the others. */
  async function storeEach(results: readonly TriedDelivery[]): Promise<void> {
    for (const result of results) {
      try {
        await store([result]);
      } catch (error) {
        if (error instanceof HeraldError) throw error;
        onError(error); // its claim ends, and it is posted again
      }
    }
  }

  async function storeSome(results: readonly TriedDelivery[]): Promise<void> {
    try {
      await store(results);
    } catch (error) {
      if (error instanceof HeraldError) throw error;
      await storeEach(results);
    }
  }

  async function storeAll(): Promise<void> {
    while (waiting.length > 0 && !isClosed) {
      if (waiting.length < mostAtOnce) await Bun.sleep(gatherMs);
      const some = waiting.slice(0, mostAtOnce);
      try {
        await storeSome(some.map(({ result }) => result));
        waiting = waiting.slice(some.length);
        isFailing = false;
        for (const { done } of some) done();
      } catch (error) {
        if (!isFailing) onError(error);
        isFailing = true;
        await Bun.sleep(againMs);
      }
    }
    storing = undefined;
  }

  return {
    add(result) {
      const { promise, resolve } = Promise.withResolvers<void>();
      waiting.push({ result, done: resolve });
      storing ??= storeAll();
      return promise;
    },
    async drain(isDone) {
      while (!isClosed && (!isDone() || storing !== undefined)) {
        if (storing === undefined) await Bun.sleep(gatherMs);
        else await storing;
      }
    },
    close() {
      isClosed = true;
    },
  };
}
