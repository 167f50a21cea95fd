import type { Random } from "../../harness/random.ts";

/** The world of one seed: its size, and what goes wrong in it. Times in milliseconds, chances from 0 to 1. */
export type GrowthClimate = ReturnType<typeof chooseGrowthClimate>;

/** Chooses a climate. Each kind of trouble is present in some worlds and absent in others, so that none hides another. */
export function chooseGrowthClimate(random: Random) {
  const losesNoHint = random.next() < 0.4;
  const isPurged = random.next() < 0.2;
  const trouble = <Value>(none: Value, ...others: Value[]): Value =>
    losesNoHint ? none : random.pick([none, ...others]);
  const activeMs = random.pick([2_000, 6_000, 15_000]);
  return {
    nodes: random.integer(1, 3),
    organizations: random.pick([1, 1, 2]),
    senders: random.integer(1, 4),
    devices: random.integer(1, 4),
    listers: random.integer(0, 2),
    activeMs,
    /** How many calls and lines senders send altogether. */
    calls: random.pick([20, 60, 150]),
    /** The most characters of a message and of a piece. Large ones cut listeners that read slowly. */
    messageCharacters: random.pick([20, 200, 6_000, 60_000]),
    pieceCharacters: random.pick([1, 6, 40, 3_000, 20_000]),
    /** The longest time between two pieces. */
    gapMs: random.pick([1, 30, 300]),
    /** The share of messages whose sender gives up, or is silent for longer than a message stays open. */
    abandoned: random.pick([0, 0.3]),
    silences: random.pick([0, 0, 0.05]),
    /** How long a message stays open without a piece. */
    silenceMs: random.pick([1_500, 4_000]),
    /** The share of senders that stream lines, and how often such a stream breaks. */
    streams: random.pick([0, 0.5, 1]),
    breaks: random.pick([0, 0.1]),
    /** How often a sender repeats a piece that was answered, sends one at another place, or one twice at once. */
    repeats: random.pick([0, 0.2]),
    misplaced: random.pick([0, 0.2]),
    twins: random.pick([0, 0.2]),
    /** How often a message that does not grow comes between, which a listener may know last. */
    whole: random.pick([0.1, 0.5]),
    /** Those who edit and take back messages, whether or not they are complete, and whether a sender is erased. */
    changers: random.integer(0, 2),
    isErased: random.next() < 0.2,
    expiring: random.pick([0, 0, 0.3]),
    lastMs: activeMs / 3,
    isPurged,
    /** Longer than it takes a node to hear of what no hint told. */
    keptMs: 8_000,
    /** The longest time until a device leaves, and then until it comes back. */
    stayMs: activeMs * random.pick([0.1, 0.4, 3]),
    awayMs: random.pick([100, 1_000, activeMs / 3]),
    comesBackWithSince: random.pick([0.6, 1]),
    /** How often it comes back with an earlier message than the last that it knows. */
    comesBackEarlier: random.pick([0, 0.4]),
    /** The most messages that `since` gives. */
    maxRecovered: random.pick([3, 100, 100]),
    /** The share of devices that use server-sent events, and of those that read slowly. */
    eventStreams: random.pick([0, 0.3]),
    slowReaders: random.pick([0, 0, 0.4]),
    /** What may wait for a connection: always more than the largest message. */
    backlogBytes: random.pick([512 * 1024, 4 * 1024 * 1024]),
    /** How long a message to the database takes, and how long a transaction holds its lock. */
    latencyMs: random.pick([0, 2, 20]),
    commitMs: random.pick([0, 2, 10]),
    aborts: trouble(0, 0, 0.1),
    lostAnswers: trouble(0, 0.1, 0.3),
    /** How often the database is away, and how often a node is killed, or stops. */
    outages: trouble(0, 1),
    kills: trouble(0, 1, 3),
    stops: trouble(0, 1),
    /** How far the clock of a node may be off: by less than events are kept for. */
    skewMs: isPurged ? 0 : random.pick([0, 0, 3 * 3_600_000]),
    bus: {
      loss: trouble(0, 0, 0.1, 1),
      doubles: random.pick([0, 0.3]),
      lateMs: random.pick([0, 3, 50, 500]),
    },
    forgeries: 0,
    unsigning: 0,
    thread: { sliceUs: random.pick([1, 300, 1_000]), turnMs: random.pick([0, 0, 3]) },
    fanout: { socketsPerShard: random.pick([1, 100]), sliceUs: random.pick([1, 1_000]) },
  };
}

/** The longest that something fails. */
export const longestTroubleMs = 3_000;
