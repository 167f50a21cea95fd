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
  return new Holder(onError);
}

/** A class, as each connection has one: closures would take twice the memory. */
class Holder implements Owner {
  readonly #held = new Set<{ release(): void }>();
  readonly #onError: (error: unknown) => void;
  isClosed = false;

  constructor(onError: (error: unknown) => void) {
    this.#onError = onError;
  }

  get size(): number {
    return this.#held.size;
  }

  hold(release: () => void): () => void {
    if (this.isClosed) {
      this.#run(release);
      return () => undefined;
    }
    const entry = { release };
    this.#held.add(entry);
    return () => void this.#held.delete(entry);
  }

  close(): void {
    this.isClosed = true;
    for (const entry of [...this.#held].reverse()) {
      // A release may remove other resources, which are then not released.
      if (this.#held.delete(entry)) this.#run(entry.release);
    }
  }

  #run(release: () => void): void {
    try {
      release();
    } catch (error) {
      this.#onError(error);
    }
  }
}

/** Calls `act` when the signal aborts, or at once if it has. Returns the function that lets go of the signal. */
export function onAbort(signal: AbortSignal, act: () => void): () => void {
  if (signal.aborted) act();
  else signal.addEventListener("abort", act, { once: true });
  return () => signal.removeEventListener("abort", act);
}
