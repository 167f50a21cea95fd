import type { DeliveryNews } from "../../bus/bus.ts";
import type { DeliveryCounts } from "../../contract/waits.ts";

type Voice = Pick<DeliveryNews, "isPlayed" | "isDone"> & {
  online: readonly string[];
  missed: readonly string[];
  acknowledged: readonly string[];
};

type Settled = { online: number; delivered: number; acknowledged: number | Set<string> };

/**
 * Creates the tally of what nodes tell of one event: those that are expected to, and maybe others. Lists of users are kept only
 * until every node has played the event, and then only those of acknowledgements, unless all are on one node.
 */
export function createTally(expected: readonly string[]) {
  const voices = new Map<string, Voice>(expected.map((node) => [node, silent]));
  let settled: Settled | undefined;
  let weight = 0;

  function acknowledge(known: Settled, uids: readonly string[]): void {
    if (typeof known.acknowledged === "number") {
      known.acknowledged += uids.length;
      return;
    }
    for (const uid of uids) known.acknowledged.add(uid);
    weight = known.acknowledged.size;
  }

  function trySettle(): void {
    if (settled !== undefined || ![...voices.values()].every(({ isPlayed, isDone }) => isPlayed || isDone)) return;
    settled = sum([...voices.values()]);
    for (const [node, voice] of voices) voices.set(node, { ...silent, isPlayed: true, isDone: voice.isDone });
    weight = typeof settled.acknowledged === "number" ? 0 : settled.acknowledged.size;
  }

  return {
    take(node: string, news: DeliveryNews): void {
      const known = voices.get(node);
      if (settled !== undefined) {
        if (known === undefined) return; // counted without it
        acknowledge(settled, news.acknowledged);
        voices.set(node, { ...known, isDone: known.isDone || news.isDone });
        return;
      }
      const { online, missed, acknowledged, isPlayed, isDone } = known ?? silent;
      voices.set(node, {
        online: join(online, news.online),
        missed: join(missed, news.missed),
        acknowledged: join(acknowledged, news.acknowledged),
        isPlayed: isPlayed || news.isPlayed,
        isDone: isDone || news.isDone,
      });
      weight += news.online.length + news.missed.length + news.acknowledged.length;
      trySettle();
    },
    /** This node is gone: what it told counts, and nothing more is expected of it. */
    release(node: string): void {
      const voice = voices.get(node);
      if (voice === undefined) return;
      voices.set(node, { ...voice, isPlayed: true, isDone: true });
      trySettle();
    },
    /** Whether every expected node has told that nothing need be awaited. */
    get isDone() {
      return [...voices.values()].every(({ isDone }) => isDone);
    },
    /** The number of user ids remembered, to count each user once. */
    get weight() {
      return weight;
    },
    /** Each user once, on any number of nodes. Never more than there are. */
    counts(): Omit<DeliveryCounts, "recipients"> {
      const { acknowledged, ...rest } = settled ?? sum([...voices.values()]);
      return { ...rest, acknowledged: typeof acknowledged === "number" ? acknowledged : acknowledged.size };
    },
  };
}

const silent: Voice = { online: [], missed: [], acknowledged: [], isPlayed: false, isDone: false };

function join(some: readonly string[], more: readonly string[]): readonly string[] {
  if (more.length === 0) return some;
  return some.length === 0 ? more : [...some, ...more];
}

/** Users need be compared only if several nodes have any. */
function sum(voices: Voice[]): Settled {
  const [only, another] = voices.filter(({ online }) => online.length > 0);
  if (another === undefined) {
    const { online, missed, acknowledged } = only ?? silent;
    const without = new Set(missed);
    const delivered = missed.length === 0 ? online.length : online.filter((uid) => !without.has(uid)).length;
    return { online: online.length, delivered, acknowledged: acknowledged.length };
  }
  const online = new Set<string>();
  const delivered = new Set<string>();
  const acknowledged = new Set<string>();
  for (const voice of voices) {
    const missed = new Set(voice.missed);
    for (const uid of voice.online) {
      online.add(uid);
      if (!missed.has(uid)) delivered.add(uid);
    }
    for (const uid of voice.acknowledged) acknowledged.add(uid);
  }
  return { online: online.size, delivered: delivered.size, acknowledged };
}
