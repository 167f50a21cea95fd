/** Holds what is taken for something that ends, such as a connection, and gives all of it back at that end, whoever took it and whenever. */
export type Owner = {
  readonly isClosed: boolean;
  /**
   * Takes charge of what `release` gives back, and calls it once: on close, or now if the owner has closed. The function that this
   * returns lets go of it: then the owner does not call it.
   */
  hold(release: () => void): () => void;
  /** Gives everything back, the last first. A release that throws keeps no other from being called. A second call does nothing. */
  close(): void;
  /** How many releases are held. */
  readonly size: number;
};

/** An owner that holds nothing. `onError` is told what a release throws. */
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
        // What one release lets go of is not released by another.
        if (held.delete(entry)) run(entry.release);
      }
    },
    get size() {
      return held.size;
    },
  };
}

/** Calls `act` when the signal aborts, and now if it has. */
export function onAbort(signal: AbortSignal, act: () => void): void {
  if (signal.aborted) act();
  else signal.addEventListener("abort", act, { once: true });
}
