import { unavailable } from "../../contract/errors/errors.ts";

type Waiter = { offset: number; since: number; resolve(): void; reject(reason: unknown): void };

/** Creates an empty set of calls that wait for a sequencer to reach an offset or for a read of the store. */
export function createWaiters() {
  const forOffsets = new Set<Waiter>();
  const forReads = new Set<Waiter>();
  let reads = 0;

  function wait(waiters: Set<Waiter>, offset: number): Promise<void> {
    return new Promise((resolve, reject) => {
      waiters.add({ offset, since: reads, resolve, reject });
    });
  }

  return {
    /** Resolves once everything up to `offset` is played. */
    until: (offset: number): Promise<void> => wait(forOffsets, offset),
    /** Resolves once a read that begins after this call has succeeded. */
    untilRead: (): Promise<void> => wait(forReads, 0),
    beginRead(): void {
      reads++;
    },
    /**
     * Called when a read succeeded and found this head. Rejects waiters for a higher offset that were there before it
     * began: that offset does not exist.
     */
    endRead(head: number): void {
      for (const waiter of forOffsets) {
        if (waiter.since >= reads || waiter.offset <= head) continue;
        forOffsets.delete(waiter);
        waiter.reject(unavailable({ detail: "the organization's log was rolled back; reconnect" }));
      }
      for (const waiter of forReads) {
        if (waiter.since >= reads) continue;
        forReads.delete(waiter);
        waiter.resolve();
      }
    },
    resolveUpTo(offset: number): void {
      for (const waiter of forOffsets) {
        if (waiter.offset > offset) continue;
        forOffsets.delete(waiter);
        waiter.resolve();
      }
    },
    rejectAll(reason: unknown): void {
      for (const waiters of [forOffsets, forReads]) {
        for (const { reject } of waiters) reject(reason);
        waiters.clear();
      }
    },
  };
}
