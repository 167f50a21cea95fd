import { callSafely } from "../callbacks.ts";

/**
 * What an app can show, as it is now. Snapshots never change; `subscribe` calls the listener when there is another one, and returns
 * the function that ends the subscription. Both suit React's `useSyncExternalStore`.
 */
export type View<Snapshot> = {
  /** What is shown now. It never changes: a change makes another one. */
  getSnapshot(): Snapshot;
  /** The snapshot before anything was read, with which a server renders. */
  getServerSnapshot(): Snapshot;

  /** Calls the listener when there is another snapshot. Returns the function that ends that. */
  subscribe(listener: () => void): () => void;
};

/** A view whose owner sets its snapshot. */
export type OwnView<Snapshot> = View<Snapshot> & { set(part: Partial<Snapshot>): void };

/** Listeners are called at most once in this time, so that a burst of messages is rendered at once. */
const frameMs = 16;

/**
 * Creates a view. `onUse` is called when it gets its first listener, and what that returns when it has lost the last one; `onThrown`
 * with what a listener throws, which keeps nothing from the others.
 */
export function createView<Snapshot extends object>(
  first: Snapshot,
  onUse: () => () => void,
  onThrown: (error: unknown) => void,
): OwnView<Snapshot> {
  let snapshot = first;
  const listeners = new Set<{ listener: () => void }>();
  let onDisuse: (() => void) | undefined;
  let isTold = true;
  return {
    getSnapshot: () => snapshot,
    getServerSnapshot: () => first,
    set(part) {
      snapshot = { ...snapshot, ...part };
      if (!isTold) return;
      isTold = false;
      setTimeout(() => {
        isTold = true;
        for (const { listener } of listeners) void callSafely(listener, onThrown);
      }, frameMs);
    },
    subscribe(listener) {
      const entry = { listener };
      listeners.add(entry);
      onDisuse ??= onUse();
      return () => {
        listeners.delete(entry);
        // A component that is replaced by another one of the same view leaves before that arrives.
        queueMicrotask(() => {
          if (listeners.size > 0) return;
          onDisuse?.();
          onDisuse = undefined;
        });
      };
    },
  };
}
