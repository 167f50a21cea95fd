import type { LogEvent } from "../../contract/log/log-event.ts";

const defaultMaxBytes = 128 * 1024 * 1024;
const keptShare = 7 / 8; // of the limit, once exceeded, so that not every event played clears a ring

/** Something that uses a budget and can release all of it. */
export type Holder = { readonly bytes: number; clear(): void };

/** Creates an unused budget, 128 MiB by default. */
export function createBudget(maxBytes = defaultMaxBytes) {
  const holders = new Set<Holder>(); // least recently used first
  let bytes = 0;

  /** Without a ring, joins read the store. The ring in use is spared, as it has a bound of its own. */
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
    /**
     * Adds bytes to a ring and makes it the most recently used. Over the limit, clears other rings larger than an even
     * share, least recently used first; clears the smaller ones only if that is not enough.
     */
    take(more: number, holder: Holder): void {
      bytes += more;
      holders.delete(holder);
      holders.add(holder);
      if (bytes > maxBytes) makeRoom(holder);
    },
    /** Counts bytes that must be held briefly, whatever the limit. */
    hold(more: number): void {
      bytes += more;
      if (bytes > maxBytes) makeRoom();
    },
    giveBack(less: number): void {
      bytes -= less;
    },
    /** Forgets a ring that holds nothing any more. */
    leave: (holder: Holder): void => void holders.delete(holder),
    /** Bytes in use. */
    get bytes(): number {
      return bytes;
    },
    get isSpent(): boolean {
      return bytes > maxBytes;
    },
  };
}

/** The memory shared by all rings of a node and the events that their sequencers hold. */
export type Budget = ReturnType<typeof createBudget>;

const eventBytes = 600; // an event with its ids and ring entry, without payload and recipients
const uidBytes = 40;

/** The approximate memory of an event, in bytes. */
export function weightOf({ payload, uids }: Pick<LogEvent, "payload" | "uids">): number {
  return eventBytes + payload.length + (uids?.length ?? 0) * uidBytes;
}
