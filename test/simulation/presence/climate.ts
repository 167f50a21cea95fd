import type { Random } from "../../harness/random.ts";

/** The world of one seed: its size, and what goes wrong in it. Times in milliseconds, chances from 0 to 1. */
export type PresenceClimate = ReturnType<typeof choosePresenceClimate>;

/** Chooses a climate. Each kind of trouble is present in some worlds and absent in others, so that none hides another. */
export function choosePresenceClimate(random: Random) {
  const isCalm = random.next() < 0.4;
  const trouble = <Value>(none: Value, ...others: Value[]): Value => (isCalm ? none : random.pick([none, ...others]));
  const activeMs = random.pick([5_000, 15_000, 30_000]);
  return {
    /** No node fails, nor the database or the bus, so everyone is told promptly. */
    isCalm,
    nodes: random.integer(1, 3),
    organizations: random.pick([1, 1, 2]),
    /** The webhooks of an organization that are told, and how long each waits. */
    hooks: random.integer(1, 2),
    waitMs: random.pick([1_000, 2_000, 5_000]),
    users: random.integer(1, random.pick([3, 12])),
    /** How many devices of a user connect, each to a node of its own choice. */
    devices: random.integer(1, 3),
    activeMs,
    /** The longest time until a device leaves, and then until it comes back. */
    stayMs: activeMs * random.pick([0.2, 0.5, 3]),
    awayMs: random.pick([300, 2_000, activeMs / 2]),
    /** How long the ids of users are. A post takes about six of the long ones. */
    uidLength: random.pick([2, 2, 3_000]),
    /** How long a message to the database or to another node takes. */
    latencyMs: random.pick([0, 2, 20]),
    /** How long a transaction holds the lock of the database. */
    commitMs: random.pick(isCalm ? [0, 2] : [0, 2, 10]),
    aborts: trouble(0, 0, 0.1),
    lostAnswers: trouble(0, 0.1, 0.3),
    /** How often a node's answer to a question is lost. */
    lostOnBus: trouble(0, 0.1, 0.4),
    /** How often the database is away from all nodes, or from one of them. */
    outages: trouble(0, 1),
    cutOffs: trouble(0, 1),
    /** How often a node loses the bus. */
    partitions: trouble(0, 1),
    /** How often a node is killed, stops, or is frozen for a while, which may be longer than it holds a webhook. */
    kills: trouble(0, 1, 2),
    stops: trouble(0, 1),
    freezes: trouble(0, 1),
    /** How often a node is frozen, for long, when it is about to tell something. */
    frozenTellers: trouble(0, 1, 1),
    /** How often the receiver fails a post when it comes first, and how often it takes it and the answer is lost. */
    failedPosts: random.pick([0, 0, 0.3]),
    unheardPosts: random.pick([0, 0, 0.2]),
    /** Whether a webhook is told nothing for a while, and whether the last one is removed. */
    isSwitched: random.next() < 0.2,
    isRemoved: random.next() < 0.2,
  };
}

/** The longest that something fails; longer than a node holds a webhook. */
export const longestTroubleMs = 25_000;
