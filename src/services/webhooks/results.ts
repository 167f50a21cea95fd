import { HeraldError } from "../../contract/errors/errors.ts";
import { gatherMs } from "../../lib/queues/steps.ts";
import type { TriedDelivery, WebhookDeliveryWrites } from "../../store/webhooks/ports.ts";
import { deliveriesOfCommit } from "./payloads.ts";

type Dependencies = {
  store: WebhookDeliveryWrites["finish"];
  onError(error: unknown): void;
};

const againMs = 500;

/**
 * Creates the storage of the results of posts, many per commit, which retries while the database is away. If a result is never
 * stored, another node posts the delivery once more.
 */
export function createResults({ store, onError }: Dependencies) {
  let waiting: { result: TriedDelivery; done(): void }[] = [];
  let storing: Promise<void> | undefined;
  let isFailing = false;
  let isClosed = false;

  async function storeSome(results: readonly TriedDelivery[]): Promise<void> {
    try {
      await store(results);
    } catch (error) {
      if (error instanceof HeraldError) throw error;
      if (results.length === 1) return onError(error); // its claim expires, and it is posted again
      for (const one of results) await storeSome([one]); // so that one that the database rejects does not block the others
    }
  }

  async function storeAll(): Promise<void> {
    while (waiting.length > 0 && !isClosed) {
      if (waiting.length < deliveriesOfCommit) await Bun.sleep(gatherMs);
      const some = waiting.slice(0, deliveriesOfCommit);
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
    /** Resolves once the result is stored. */
    add(result: TriedDelivery): Promise<void> {
      const { promise, resolve } = Promise.withResolvers<void>();
      waiting.push({ result, done: resolve });
      storing ??= storeAll();
      return promise;
    },
    /** Resolves once `isDone` returns true and all results are stored. */
    async drain(isDone: () => boolean): Promise<void> {
      while (!isClosed && (!isDone() || storing !== undefined)) {
        if (storing === undefined) await Bun.sleep(gatherMs);
        else await storing;
      }
    },
    /** Stores no more. */
    close(): void {
      isClosed = true;
    },
  };
}
