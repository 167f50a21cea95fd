import type { LogEvent } from "../../contract/messages/log-event.ts";

const defaultMaxBytes = 128 * 1024 * 1024;
const keptShare = 7 / 8; // of the limit, once it was passed: so that not each event that is played clears a ring

/** What takes room of a budget, and can give it all back. */
export type Holder = { readonly bytes: number; clear(): void };

/** The memory that all rings of a node share, together with what their sequencers hold back. */
export type Budget = {
  /**
   * Counts bytes of a ring, which becomes the one used last. Over the limit, the other rings that hold more than an even share are
   * cleared, those that were used least recently first; the rest only if that does not do.
   */
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
    const kept = maxBytes * keptShare;
    for (const share of [kept / holders.size, 0]) {
      for (const holder of holders) {
        if (bytes <= kept) return;
        if (holder !== used && holder.bytes > share) holder.clear();
      }
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

const eventBytes = 600; // an event with its ids and its place in a ring, without payload and recipients
const uidBytes = 40;

/** About how many bytes of memory an event takes. */
export function weightOf({ payload, uids }: Pick<LogEvent, "payload" | "uids">): number {
  return eventBytes + payload.length + (uids?.length ?? 0) * uidBytes;
}
