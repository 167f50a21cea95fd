import type { DeliveryNews, WatchBus } from "../../bus/bus.ts";
import type { DeliveryCounts } from "../../contract/waits.ts";
import { onAbort } from "../../lib/owner.ts";
import { createCounters } from "../../lib/rates/counters.ts";
import { createTally } from "./tally.ts";

/** What a caller waits for: an event, by its id and the id that clients acknowledge it by. */
export type WaitFor = {
  org: string;
  event: string;
  ack: string;
  seconds: number;
  /** Aborts when the caller hangs up. */
  signal: AbortSignal;
};

/** One caller's wait. End it, whatever becomes of the send. */
export type Wait = {
  /**
   * Resolves once everyone who was online has the event and every connection that acknowledges has acknowledged, or at
   * the end of the time, or when the caller hangs up or this node stops: with the counts until then, or `undefined` if
   * there were too many users to keep apart. Never rejects.
   */
  readonly counts: Promise<Omit<DeliveryCounts, "recipients"> | undefined>;
  end(): void;
};

/** The callers of this node who wait for a delivery. */
export type Waits = ReturnType<typeof createWaits>;

type Dependencies = {
  bus: Pick<WatchBus, "watch">;
  /** The ids of the nodes whose news are expected. */
  nodes(): readonly string[];
  /** The most callers of one organization and of this node, and the most user ids kept for all of them. */
  most?: { ofOrganization: number; ofNode: number; uids: number };
};

const defaultMost = { ofOrganization: 1_000, ofNode: 10_000, uids: 1_000_000 };

/**
 * Creates the waits of a node. Each costs a message to the other nodes, and some from each of them; none asks the
 * database, and none holds up anything.
 */
export function createWaits({ bus, nodes, most = defaultMost }: Dependencies) {
  const open = new Set<{ finish(): void; release(node: string): void }>();
  const ofOrganization = createCounters(most.ofOrganization);
  let known: readonly string[] = [];
  let uids = 0;
  let isStopped = false;

  return {
    /** Begins to wait, before the event is appended; `undefined` if too many callers are waiting already. */
    open({ org, event, ack, seconds, signal }: WaitFor): Wait | undefined {
      if (isStopped || open.size >= most.ofNode || !ofOrganization.take(org)) return undefined;
      const tally = createTally(nodes());
      const { promise, resolve } = Promise.withResolvers<Awaited<Wait["counts"]>>();
      let isOver = false;
      let endWatch: (() => void) | undefined;

      function finish(): void {
        const end = endWatch;
        endWatch = undefined;
        end?.(); // which may bring the last news of this node, and so finish
        close(tally.counts());
      }

      function close(counts: Awaited<Wait["counts"]>): void {
        if (isOver) return;
        isOver = true;
        clearTimeout(timer);
        uids -= tally.weight;
        open.delete(entry);
        ofOrganization.release(org);
        endWatch?.();
        resolve(counts);
      }

      function change(work: () => void): void {
        if (isOver) return;
        uids -= tally.weight;
        work();
        uids += tally.weight;
        if (uids > most.uids) close(undefined);
        else if (tally.isDone) finish();
      }

      const take = (node: string, news: DeliveryNews) => change(() => tally.take(node, news));
      const entry = { finish, release: (node: string) => change(() => tally.release(node)) };
      const timer = setTimeout(finish, seconds * 1000);
      open.add(entry);
      onAbort(signal, finish);
      endWatch = bus.watch({ org, event, ack, forMs: seconds * 1000 }, take);
      if (isOver) endWatch();
      return { counts: promise, end: finish };
    },
    /** Looks which of the nodes have gone since the last call: nobody waits for those any longer. */
    lookAtNodes(): void {
      const live = nodes();
      const gone = known.filter((node) => !live.includes(node));
      known = live;
      for (const node of gone) for (const { release } of open) release(node);
    },
    /** Ends all waits, for a node that stops; from then on nobody waits. */
    stop(): void {
      isStopped = true;
      for (const { finish } of open) finish();
    },
    get size() {
      return open.size;
    },
  };
}
