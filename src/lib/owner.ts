/**
 * Holds resources taken for something that ends, such as a connection, and releases all of them at its end, whoever
 * took them and whenever.
 */
export type Owner = {
  readonly isClosed: boolean;
  /**
   * Holds a resource and calls `release` once: on close, or now if the owner has closed. The returned function removes
   * it, after which the owner no longer releases it.
   */
  hold(release: () => void): () => void;
  /** Releases everything, the last first. A release that throws does not prevent the others. Later calls do nothing. */
  close(): void;
  /** The number of resources held. */
  readonly size: number;
};

/** Creates an owner that holds nothing. `onError` gets what a release throws. */
export function createOwner(onError: (error: unknown) => void): Owner {
  const held = new Set<{ release(): void }>();
  let isClosed = false;

  function run(release: () => void): void {
    try {
      release();
    } catch (error) {
      onError(error);
    }
  }

  return {
    get isClosed() {
      return isClosed;
    },
    hold(release) {
      if (isClosed) {
        run(release);
        return () => undefined;
      }
      const entry = { release };
      held.add(entry);
      return () => void held.delete(entry);
    },
    close() {
      isClosed = true;
      for (const entry of [...held].reverse()) {
        // A release may remove other resources, which are then not released.
        if (held.delete(entry)) run(entry.release);
      }
    },
    get size() {
      return held.size;
    },
  };
}

/** Calls `act` when the signal aborts, or at once if it has. */
export function onAbort(signal: AbortSignal, act: () => void): void {
  if (signal.aborted) act();
  else signal.addEventListener("abort", act, { once: true });
}
