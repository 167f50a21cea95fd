import type { Random } from "../harness/random.ts";
import type { FeedClimate } from "./climate-feeds.ts";
import type { InboxClimate } from "./climate-inboxes.ts";

/** The world of one seed: its size, and what goes wrong in it. Times in milliseconds, chances from 0 to 1. */
export type Climate = ReturnType<typeof chooseClimate> & InboxClimate & FeedClimate;

/**
 * Chooses a climate. Each kind of trouble is present in some worlds and absent in others, so that none hides another.
 */
export function chooseClimate(random: Random) {
  const oneOf = <Value>(...values: [Value, ...Value[]]): Value =>
    values[random.integer(0, values.length - 1)] ?? values[0];
  const losesNoHint = random.next() < 0.35;
  const nodes = random.integer(1, 3);
  const activeMs = oneOf(1_000, 4_000, 12_000, 30_000);
  const organizations = oneOf(1, 1, 2, 2, random.integer(4, 10));
  return {
    /** Hints are late, duplicated and out of order, but none is lost, so everything is heard promptly. */
    losesNoHint,
    nodes,
    organizations,
    /** The share of clients and writes that the first organization has before the others get theirs. */
    busiest: oneOf(0, 0.6),
    users: random.integer(2, 4),
    conversations: random.integer(1, 3),
    clients: random.integer(2, 5) + Math.floor(organizations / 2),
    writers: random.integer(1, 4),
    activeMs,
    writes: random.integer(5, oneOf(20, 40, 100, 130)),
    /** The maximum number of messages that `since` gives. */
    maxRecovered: oneOf(10, 100, 100),
    /** How long a transaction holds its lock, and how long after it its events are announced. */
    commitMs: oneOf(1, 10, 60),
    announceMs: oneOf(0, 2, 30),
    aborts: oneOf(0, 0.1),
    crashesBeforeAnnouncing: losesNoHint ? 0 : oneOf(0, 0, 0.1),
    /** How often a message is large, and how large. A large one does not fit into a hint. */
    large: oneOf(0, 0, 0, 0, 0.1, 0.4),
    largeBytes: oneOf(40_000, 150_000, 500_000),
    /** How often a write is an edit of a recent message, and how often a recall of up to three. */
    edits: oneOf(0, 0, 0.1, 0.3),
    recalls: oneOf(0, 0, 0.1, 0.2),
    membershipChanges: oneOf(0.02, 0.1, 0.3),
    signOuts: oneOf(0, 0, 0.03),
    /** The longest time until a client breaks its connection, and then until it returns. */
    stayMs: activeMs * oneOf(0.2, 0.6, 3),
    awayMs: oneOf(300, activeMs / 2),
    comesBackWithSince: oneOf(0.5, 0.9),
    /** The share of clients that use server-sent events instead of a WebSocket. */
    streams: oneOf(0, 0, 0.3),
    slowReaders: oneOf(0, 0, 0.3),
    bus: {
      loss: losesNoHint ? 0 : oneOf(0, 0, 0.05, 0.4, 1),
      doubles: oneOf(0, 0.1, 0.5),
      lateMs: oneOf(0, 3, 50, 800),
      outages: losesNoHint ? 0 : oneOf(0, 0, 1, 2),
      severances: losesNoHint || nodes === 1 ? 0 : oneOf(0, 0, 1),
    },
    store: {
      latencyMs: oneOf(0, 2, 30, 300),
      /** How often it is away for a while, and how often a single read fails. */
      outages: oneOf(0, 0, 1, 2),
      misses: losesNoHint ? 0 : oneOf(0, 0, 0, 0.1),
    },
    restarts: losesNoHint ? 0 : oneOf(0, 0, 1, 2),
    /** How often recording a delivery fails. */
    ledgerFails: oneOf(0, 0, 0, 0.2),
    isPurged: random.next() < 0.3,
    /** How often a standby takes over, how long the database is away then, and how much it lacks. */
    failovers: random.next() < 0.4 ? 1 : 0,
    failoverMs: oneOf(0, 0, 1_000),
    standbyLagMs: activeMs * oneOf(0.02, 0.1, 0.4),
    /** How often somebody on the bus follows a hint with a forged one, and how often a node's version does not sign. */
    forgeries: oneOf(0, 0, 0.3, 1),
    unsigning: oneOf(0, 0, 0.5),
    /** Who mark conversations as read. */
    readers: oneOf(0, 0, 1, 3),
    thread: { sliceUs: oneOf(1, 300, 1_000), turnMs: oneOf(0, 0, 3, 10) },
    /** How often organizations have a lot of other work for the thread of a node. */
    bursts: oneOf(0, 0, 2, 5),
    /** How many sockets are written to at once, and what an organization may write in a turn. */
    fanout: { socketsPerShard: oneOf(1, 2, 100), sliceUs: oneOf(1, 20, 1_000) },
  };
}

/** An organization, more often the first one if it is the busiest. */
export function pickOrganization(random: Random, { busiest }: Pick<Climate, "busiest">, orgs: string[]): string {
  const [first = ""] = orgs;
  return random.next() < busiest ? first : random.pick(orgs);
}

export const largestHintBytes = 100_000;
/** `since` recovers messages up to this age; older ones are purged, but not at once. */
export const maxRecoveredMs = 8_000;
export const retentionMs = 20_000;
export const purgeEveryMs = 1_000;
export const longestTroubleMs = 4_000;
/** The longest that anything waits for the thread of a node, all its turns together. */
export const threadMsOf = ({ thread }: Climate) => 100 * thread.turnMs;
/** Promised: whatever no hint announced is found within this time. */
export const headCheckMs = 5_000;
