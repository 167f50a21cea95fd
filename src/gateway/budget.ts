const defaultMaxBytes = 128 * 1024 * 1024;

type Holder = { clear(): void };

/** How much memory all rings of a node may take, with what their sequencers hold back. */
export type Budget = {
  /** Notes bytes of a ring, the one that was used last now. Where that is too much, the rings that were used least lately are cleared. */
  take(bytes: number, holder: Holder): void;
  /** Notes bytes that are held for a moment, and must be. */
  hold(bytes: number): void;
  giveBack(bytes: number): void;
  /** The ring holds nothing any more. */
  leave(holder: Holder): void;
  /** How much is taken. */
  readonly bytes: number;
  readonly isSpent: boolean;
};

/** Nothing is taken. 128 MiB unless said otherwise. */
export function createBudget(maxBytes = defaultMaxBytes): Budget {
  const holders = new Set<Holder>(); // in the order of their last use
  let bytes = 0;

  /** A ring that is empty only makes joins read the store. The one that is in use stays as it is: it is bounded itself. */
  function makeRoom(used?: Holder): void {
    for (const holder of holders) {
      if (bytes <= maxBytes) return;
      if (holder !== used) holder.clear();
    }
  }

  return {
    take(more, holder) {
      bytes += more;
      holders.delete(holder);
      holders.add(holder);
      if (bytes > maxBytes) makeRoom(holder);
    },
    hold(more) {
      bytes += more;
      if (bytes > maxBytes) makeRoom();
    },
    giveBack(less) {
      bytes -= less;
    },
    leave: (holder) => void holders.delete(holder),
    get bytes() {
      return bytes;
    },
    get isSpent() {
      return bytes > maxBytes;
    },
  };
}
