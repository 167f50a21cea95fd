import * as connections from "./faulty/connections.ts";
import * as fanout from "./faulty/fanout.ts";
import * as hints from "./faulty/hints.ts";
import * as joining from "./faulty/joining.ts";
import * as playing from "./faulty/playing.ts";
import * as reading from "./faulty/reading.ts";
import * as texts from "./faulty/texts.ts";
import * as threads from "./faulty/threads.ts";
import { product } from "./product.ts";
import type { Variant } from "./world.ts";

const silentBus = { loss: 1, doubles: 0, lateMs: 0, outages: 0, severances: 0 };
const slowStore = { latencyMs: 300, outages: 0, misses: 0 };
const promptHints = {
  losesNoHint: true,
  crashesBeforeAnnouncing: 0,
  bus: { ...silentBus, loss: 0, lateMs: 3 },
  store: { latencyMs: 2, outages: 0, misses: 0 },
  restarts: 0,
};
const livelyFailover = {
  losesNoHint: false,
  failovers: 1,
  failoverMs: 0,
  standbyLagMs: 400,
  restarts: 0,
  writes: 100,
  activeMs: 4_000,
};

/** A product with a bug, and what the judge must say about it, unless anything will do. */
export type PlantedBug = Variant & { sign?: RegExp };

/** Bugs that the simulation must find, by name: in a part of the product, or in its surroundings. */
export const plantedBugs: Record<string, PlantedBug> = {
  "events are announced before a commit that may abort or come late": { product, writing: "announces early" },
  "offsets are taken without a lock": { product, writing: "takes offsets without a lock" },
  "a recall is told, and the texts stay": { product, writing: "keeps texts that are taken back" },
  "what was read before a recall is written after it": { product: texts.forgetsRecalls },
  "what waits for a slow stream is written after its recall": {
    product: texts.keepsWaitingFrames,
    climate: { streams: 1, slowReaders: 1, large: 0.4, largeBytes: 150_000, recalls: 0.2, writes: 100 },
  },
  "edits are not played": { product: texts.playsNoEdits },
  "who joins is not told of recalls that were played meanwhile": { product: texts.joinsWithoutRecalls },
  "since leaves edits out": { product: texts.replaysNoEdits },
  "the head check is skipped": { product: playing.skipsHeadCheck },
  "heads are not looked at when the bus is there again": { product, checksHeadsOnConnect: false },
  "a hole is passed over": { product: playing.passesOverHoles },
  "the head is taken for what was played": { product: playing.takesHeadForPlayed },
  "a hint is played again when it comes again": { product: playing.playsHintsAgain },
  "what a hint brought meanwhile is played again when it is read": { product: playing.playsReadsAgain },
  "a hint that came too early is dropped and forgotten": { product: playing.dropsEarlyHints },
  "a hint without its event is ignored": { product: playing.ignoresHintsWithoutEvent },
  "a read that failed is not tried again": { product: playing.swallowsFailedReads },
  "who joins does not wait for the node to be as far as the snapshot": { product: joining.joinsBeforeSnapshot },
  "who joins is not given what was played meanwhile": { product: joining.joinsWithoutPlayedMeanwhile },
  "who joins does not follow removals": { product: joining.followsNoRemovals },
  "who joins is subscribed before it is given what was played": { product: joining.subscribesBeforeReplay },
  "a replay begins with what was seen": { product: joining.replaysWhatWasSeen },
  "a replay ends after its first page": { product: joining.replaysOnePage },
  "the ring does not know how far back it reaches": { product: playing.forgetsHowFarRingReaches },
  "what was played is not kept for those who join": { product: playing.keepsNothingForJoins },
  "who was removed goes on hearing": { product: connections.removedGoOnHearing },
  "who was removed goes on being counted": { product: connections.removedGoOnBeingCounted },
  "who is gone goes on being counted": { product: connections.goneGoOnBeingCounted },
  "a system message to a conversation goes to everyone": {
    product: connections.systemMessagesToConversationsGoToEveryone,
  },
  "who joined is not among everyone": { product: connections.joinedAreNotAmongEveryone },
  "who joins is not given what went to everyone meanwhile": { product: joining.joinsWithoutWhatWentToEveryone },
  "who joins hears what goes to everyone before the replay, and again after it": {
    product: joining.hearsEveryoneBeforeReplay,
  },
  "a sign-out closes nobody": { product: connections.signOutsCloseNobody },
  "the sequencer is given back while a connection still needs it": { product: joining.releasesSequencersEarly },
  "a connection that closes while it connects keeps what is taken for it after that": {
    product: connections.keepsWhatIsTakenLate,
  },
  "the sequencer of a connection that is gone is kept": { product: joining.keepsSequencers },
  "the place of a user who is gone is kept": { product: connections.keepsPlaces },
  "the heartbeat of a connection that is gone goes on": { product: connections.keepsHeartbeats },
  "a burst is played at once": {
    product: playing.playsBurstsAtOnce,
    climate: { large: 0.4, largeBytes: 500_000, writes: 200, losesNoHint: false, bus: silentBus },
  },
  "a hint at a place that was played is dropped on its number alone": { product: playing.dropsHintsOfPlayedOffsets },
  "a hint is played on its number alone": { product: playing.playsHintsOnTheirNumber },
  "what was held back is played on its number alone": { product: playing.playsHeldOnTheirNumber },
  "the head check does not compare ids": {
    product: playing.checksNoHeadIds,
    climate: { losesNoHint: false, failovers: 1, restarts: 0, bus: silentBus },
  },
  "the head check does not look back": { product: playing.checksNoHeadsBehind },
  "a read does not look at what stands where it begins": { product: playing.readsWithoutLookingBack },
  "what a hint brought while it was read is not compared with the page": {
    product: playing.comparesNoHintsWithReads,
    climate: { ...livelyFailover, store: slowStore, bus: { ...silentBus, loss: 0.05, doubles: 0.1, lateMs: 800 } },
  },
  "rings and positions are kept after the past changed": { product: playing.keepsSequencersAfterBreak },
  "connections stay open after the past changed": { product: playing.keepsConnectionsAfterBreak },
  "who joins is let in whatever log the session stood in": { product: joining.joinsAnyLog },
  "who joins is given what was played beyond the session, though that is gone": {
    product: joining.joinsBeyondSession,
    climate: { failovers: 1, failoverMs: 0, nodes: 3, store: slowStore },
  },
  "a replay is of two logs": {
    product: joining.replaysTwoLogs,
    climate: { failovers: 1, failoverMs: 0, restarts: 0, maxRecovered: 1_000, writes: 300, large: 0, store: slowStore },
  },
  "who cannot be written down in the ledger is not let in": { product: joining.joinsOnlyWithLedger },
  "what fails after an event was played has it played again": { product: connections.playsAgainAfterFailure },
  "the signature of a hint is not checked": { product: hints.checksNoSignatures },
  "what an unsigned hint says is believed": { product: hints.believesUnsignedHints },
  "a nudge is ignored, and an event that a node of the version before wrote comes late": {
    product: playing.ignoresNudges,
    climate: { ...promptHints, unsigning: 0.5 },
  },
  "a read does not look at the mark again, so that it moves back and its author hears twice": {
    product: reading.trustsTheLook,
  },
  "a read moves the mark beyond what was read": {
    product: reading.movesMarksBeyondWhatWasRead,
    sign: /nobody is told/,
  },
  "a read moves the mark beyond a log that was set back": {
    product: reading.movesMarksBeyondWhatWasRead,
    sign: /beyond the log/,
    climate: { ...livelyFailover, readers: 3 },
  },
  "a read does not look whether the log is still the one it looked at": {
    product: reading.trustsOffsets,
    climate: { ...livelyFailover, readers: 3, store: slowStore },
  },
  "reads are played to nobody": { product: reading.playsReadsToNobody },
  "a request whose connection fails later is answered twice": { product: connections.answersTwice },
  "an organization is not served while another has work": { product: threads.starves, sign: /µs behind/ },
  "organizations wait in one line": { product: threads.servesInOrderOfArrival, sign: /µs behind/ },
  "whoever waits alone is forgotten when the thread becomes free": {
    product: threads.forgetsTheLast,
    sign: /holds \d+ waiters/,
  },
  "a slice never ends": { product: threads.endsNoSlice, sign: /after the slice is used up/ },
  "the next turn of the event loop is not taken": { product: threads.takesNoTurn, sign: /holds \d+ waiters/ },
  "a closed owner keeps its place": { product: threads.keepsPlacesOfTheClosed, sign: /for a closed owner/ },
  "work waits while the thread is free": { product: threads.alwaysWaits, sign: /though it is free/ },
  "what goes to users overtakes what waits for their sockets": {
    product: fanout.writesToUsersAtOnce,
    sign: /hears .* after|where .* is due/,
  },
  "a socket that joins hears what waits for its part": {
    product: fanout.joinsPartsThatWait,
    sign: /hears .* after|where .* is due/,
  },
  "who is removed does not hear what waited before": {
    product: fanout.changesHearingBeforeWhatWaits,
    sign: /hears|heard/,
  },
  "a burst goes on though a socket was slow to take what waited": {
    product: fanout.ignoresSlowSockets,
    sign: /ends with 1006/,
    climate: {
      large: 0.4,
      largeBytes: 500_000,
      writes: 200,
      losesNoHint: false,
      bus: silentBus,
      thread: { sliceUs: 300, turnMs: 0 },
      fanout: { socketsPerShard: 1, sliceUs: 20 },
    },
  },
  "what waits for the thread is never written": { product: fanout.writesNothingThatWaits, sign: /hears|heard/ },
};
