const defaultMaxBytes = 128 * 1024 * 1024;

type Holder = { clear(): void };

/** The memory that all rings of a node share, together with what their sequencers hold back. */
export type Budget = {
  /** Counts bytes of a ring, which becomes the one used last. Over the limit, the rings that were used least recently are cleared. */
  take(bytes: number, holder: Holder): void;
  /** Counts bytes that must be held for a moment, whatever the limit. */
  hold(bytes: number): void;
  giveBack(bytes: number): void;
  /** The ring holds nothing any more. */
  leave(holder: Holder): void;
  /** How much is taken. */
  readonly bytes: number;
  readonly isSpent: boolean;
};

/** An unused budget, of 128 MiB by default. */
export function createBudget(maxBytes = defaultMaxBytes): Budget {
  const holders = new Set<Holder>(); // in the order of their last use
  let bytes = 0;

  /** Without a ring, joins read the store. The ring in use is left alone: it has a bound of its own. */
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
